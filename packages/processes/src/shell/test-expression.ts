import type { FileFacts, Process } from '@openstack-operator/sandbox';
import { resolvePath } from './state.ts';

/**
 * Evaluates the operands of `test` (without the closing bracket).
 * @returns 0 true, 1 false
 * @throws Error with the command's words for what is no expression (exit status 2)
 */
export function evaluateTest(process: Process, directory: string, operands: readonly string[]): number {
  let position = 0;
  const left = (): number => operands.length - position;
  const next = (): string => {
    const operand = operands[position];
    if (operand === undefined) throw new Error('argument expected');
    position += 1;
    return operand;
  };

  const primary = (): boolean => {
    const operand = next();
    if (operand === '!' && left() > 0) return !primary();
    if (operand === '(' && left() > 1) {
      const value = or();
      if (next() !== ')') throw new Error('closing paren expected');
      return value;
    }
    const operator = operands[position];
    const comparison = operator === undefined ? undefined : comparisons[operator];
    if (comparison !== undefined && left() > 1) {
      position += 1;
      return comparison(operand, next());
    }
    if (/^-[a-zA-Z]$/.test(operand) && left() > 0 && operand !== '-a' && operand !== '-o') {
      return unary(process, directory, operand, next());
    }
    return operand !== '';
  };
  const and = (): boolean => {
    let value = primary();
    while (operands[position] === '-a') {
      position += 1;
      value = primary() && value;
    }
    return value;
  };
  const or = (): boolean => {
    let value = and();
    while (operands[position] === '-o') {
      position += 1;
      value = and() || value;
    }
    return value;
  };

  if (operands.length === 0) return 1;
  const value = or();
  if (left() > 0) throw new Error(`${operands[position]}: unexpected operator`);
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
