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
    if (operator !== undefined && isBinary(operator) && left() > 1) {
      position += 1;
      return compare(operand, operator, next());
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

function isBinary(operator: string): boolean {
  return ['=', '==', '!=', '<', '>', '-eq', '-ne', '-lt', '-le', '-gt', '-ge', '-nt', '-ot'].includes(operator);
}

function compare(left: string, operator: string, right: string): boolean {
  switch (operator) {
    case '=':
    case '==':
      return left === right;
    case '!=':
      return left !== right;
    case '<':
      return left < right;
    case '>':
      return left > right;
    case '-eq':
      return integer(left) === integer(right);
    case '-ne':
      return integer(left) !== integer(right);
    case '-lt':
      return integer(left) < integer(right);
    case '-le':
      return integer(left) <= integer(right);
    case '-gt':
      return integer(left) > integer(right);
    case '-ge':
      return integer(left) >= integer(right);
    default:
      throw new Error(`${operator} is not modelled: files here have no times`);
  }
}

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
  switch (operator) {
    case '-e':
      return true;
    case '-f':
      return facts.type === 'file';
    case '-d':
      return facts.type === 'directory';
    case '-S':
      return facts.type === 'socket';
    case '-c':
      return facts.type === 'file' && path.startsWith('/dev/');
    case '-b':
    case '-p':
      return false;
    case '-s':
      return facts.size > 0 || facts.type === 'directory';
    case '-r':
      return permitted(process, facts, 4);
    case '-w':
      return permitted(process, facts, 2);
    case '-x':
      return facts.type === 'directory' || process.uid !== 0
        ? permitted(process, facts, 1)
        : (facts.mode & 0o111) !== 0;
    default:
      throw new Error(`${operator} is not modelled`);
  }
}

function permitted(process: Process, facts: FileFacts, bit: number): boolean {
  if (process.uid === 0) return true;
  if (facts.uid === process.uid) return (facts.mode & (bit << 6)) !== 0;
  if (facts.gid === process.gid || process.groups.includes(facts.gid)) return (facts.mode & (bit << 3)) !== 0;
  return (facts.mode & bit) !== 0;
}
