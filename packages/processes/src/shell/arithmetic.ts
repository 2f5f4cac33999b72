/** What an arithmetic expression may read and set. */
export interface ArithmeticVariables {
  get(name: string): string | undefined;
  set(name: string, value: string): void;
}

/** Binary operators, those that bind least first. */
const binary = ['||', '&&', '|', '^', '&', '== !=', '<= >= < >', '<< >>', '+ -', '* / %'].map((level) =>
  level.split(' '),
);

/**
 * The value of `$((expression))`.
 * @throws Error with the shell's words for what is no arithmetic expression
 */
export function evaluateArithmetic(expression: string, variables: ArithmeticVariables): number {
  const tokens =
    expression.match(/\d+|[A-Za-z_]\w*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%]=|[-+*/%()<>=!&|^~?:]|\S/g) ?? [];
  let position = 0;
  const peek = (): string | undefined => tokens[position];
  const fail = (): never => {
    throw new Error(`arithmetic expression: expecting primary: "${expression}"`);
  };

  const valueOf = (name: string): number => {
    const text = (variables.get(name) ?? '').trim();
    if (text === '') return 0;
    if (!/^-?\d+$/.test(text)) throw new Error(`Illegal number: ${text}`);
    return Number(text);
  };

  const primary = (): number => {
    const token = tokens[position];
    position += 1;
    if (token === undefined) return fail();
    if (token === '(') {
      const value = ternary();
      if (tokens[position] !== ')') fail();
      position += 1;
      return value;
    }
    if (token === '-') return -primary();
    if (token === '+') return primary();
    if (token === '!') return primary() === 0 ? 1 : 0;
    if (token === '~') return ~primary();
    if (/^\d/.test(token)) return Number(token);
    if (!/^[A-Za-z_]/.test(token)) return fail();
    const assignment = /^([-+*/%]?)=$/.exec(peek() ?? '');
    if (assignment !== null) {
      position += 1;
      const right = ternary();
      const value = assignment[1] === '' ? right : operate(assignment[1] as string, valueOf(token), right);
      variables.set(token, String(value));
      return value;
    }
    return valueOf(token);
  };

  const level = (depth: number): number => {
    const operators = binary[depth];
    if (operators === undefined) return primary();
    let value = level(depth + 1);
    for (let operator = peek(); operator !== undefined && operators.includes(operator); operator = peek()) {
      position += 1;
      value = operate(operator, value, level(depth + 1));
    }
    return value;
  };

  const ternary = (): number => {
    const condition = level(0);
    if (peek() !== '?') return condition;
    position += 1;
    const yes = ternary();
    if (peek() !== ':') fail();
    position += 1;
    const no = ternary();
    return condition !== 0 ? yes : no;
  };

  if (tokens.length === 0) return 0;
  const value = ternary();
  if (position < tokens.length) fail();
  return value;
}

function operate(operator: string, left: number, right: number): number {
  if ((operator === '/' || operator === '%') && right === 0) throw new Error('division by zero');
  const result = operations[operator]?.(left, right);
  if (result === undefined) throw new Error(`arithmetic expression: expecting EOF: "${operator}"`);
  return Number(result);
}

const operations: Readonly<Record<string, (left: number, right: number) => number | boolean>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => Math.trunc(left / right),
  '%': (left, right) => left % right,
  '<<': (left, right) => left << right,
  '>>': (left, right) => left >> right,
  '&': (left, right) => left & right,
  '|': (left, right) => left | right,
  '^': (left, right) => left ^ right,
  '&&': (left, right) => left !== 0 && right !== 0,
  '||': (left, right) => left !== 0 || right !== 0,
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': (left, right) => left < right,
  '>': (left, right) => left > right,
  '<=': (left, right) => left <= right,
  '>=': (left, right) => left >= right,
};
