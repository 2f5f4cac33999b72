import type { FileFacts, Process } from '@openstack-operator/sandbox';
import { readLogic } from '../logic.ts';
import { resolvePath } from './state.ts';

/**
 * Evaluates the operands of `test` (without the closing bracket).
 * @returns 0 true, 1 false
 * @throws Error with the command's words for what is no expression (exit status 2)
 */
export function evaluateTest(process: Process, directory: string, operands: readonly string[]): number {
  const left = [...operands];
  const next = (): string => {
    const operand = left.shift();
    if (operand === undefined) throw new Error('argument expected');
    return operand;
  };

  const primary = (): boolean => {
    const operand = next();
    if (operand === '!' && left.length > 0) return !primary();
    if (operand === '(' && left.length > 1) {
      const value = whole();
      if (next() !== ')') throw new Error('closing paren expected');
      return value;
    }
    const comparison = comparisons[left[0] ?? ''];
    if (comparison !== undefined && left.length > 1) {
      left.shift();
      return comparison(operand, next());
    }
    if (/^-[a-zA-Z]$/.test(operand) && left.length > 0 && operand !== '-a' && operand !== '-o') {
      return unary(process, directory, operand, next());
    }
    return operand !== '';
  };
  const whole = (): boolean => readLogic(left, { and: '-a', or: '-o' }, primary);

  if (operands.length === 0) return 1;
  const value = whole();
  if (left.length > 0) throw new Error(`${left[0]}: unexpected operator`);
  return value ? 0 : 1;
}

type Comparison = (left: string, right: string) => boolean;

const numeric =
  (compare: (left: number, right: number) => boolean): Comparison =>
  (left, right) =>
    compare(integer(left), integer(right));

const comparisons: Readonly<Record<string, Comparison>> = {
  '=': (left, right) => left === right,
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': (left, right) => left < right,
  '>': (left, right) => left > right,
  '-eq': numeric((left, right) => left === right),
  '-ne': numeric((left, right) => left !== right),
  '-lt': numeric((left, right) => left < right),
  '-le': numeric((left, right) => left <= right),
  '-gt': numeric((left, right) => left > right),
  '-ge': numeric((left, right) => left >= right),
};

function integer(text: string): number {
  if (!/^\s*[-+]?\d+\s*$/.test(text)) throw new Error(`Illegal number: ${text}`);
  return Number(text);
}

function unary(process: Process, directory: string, operator: string, operand: string): boolean {
  if (operator === '-n') return operand !== '';
  if (operator === '-z') return operand === '';
  if (operator === '-t') return false;
  const path = resolvePath(directory, operand);
  let facts: FileFacts;
  try {
    facts = process.files.stat(path);
  } catch {
    return false;
  }
  const { type, size, mode } = facts;
  const answers: Readonly<Record<string, boolean>> = {
    '-e': true,
    '-f': type === 'file',
    '-d': type === 'directory',
    '-S': type === 'socket',
    '-c': type === 'file' && path.startsWith('/dev/'),
    '-b': false,
    '-p': false,
    '-s': size > 0 || type === 'directory',
    '-r': permitted(process, facts, 4),
    '-w': permitted(process, facts, 2),
    '-x': type === 'directory' || process.uid !== 0 ? permitted(process, facts, 1) : (mode & 0o111) !== 0,
  };
  const answer = answers[operator];
  if (answer === undefined) throw new Error(`${operator} is not modelled`);
  return answer;
}

function permitted(process: Process, facts: FileFacts, bit: number): boolean {
  if (process.uid === 0) return true;
  if (facts.uid === process.uid) return (facts.mode & (bit << 6)) !== 0;
  if (facts.gid === process.gid || process.groups.includes(facts.gid)) return (facts.mode & (bit << 3)) !== 0;
  return (facts.mode & bit) !== 0;
}
