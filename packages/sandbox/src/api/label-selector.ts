import { badRequest } from './status.ts';

/** Whether a set of labels is selected. */
export type LabelMatcher = (labels: Readonly<Record<string, string>> | undefined) => boolean;

const KEY = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)$/;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/**
 * A selector as it stands in a query: `app=x,tier in (a,b),!old`.
 * @throws StatusError 400 with the words of k8s.io/apimachinery/pkg/labels
 */
export function parseLabelSelector(text: string): LabelMatcher {
  const tokens = tokenize(text);
  const matchers: LabelMatcher[] = [];
  let position = 0;
  const peek = () => tokens[position] ?? '';
  const take = () => tokens[position++] ?? '';
  const fail = (found: string, expected: string) =>
    badRequest(`unable to parse requirement: ${found === undefined ? '' : `found '${found}', expected: ${expected}`}`);
  while (position < tokens.length) {
    const negated = peek() === '!';
    if (negated) take();
    const key = take();
    if (!isWord(key)) throw fail(key, negated ? 'identifier' : "!, identifier, or 'end of string'");
    if (!KEY.test(key)) {
      throw badRequest(
        `unable to parse requirement: <nil>: Invalid value: ${JSON.stringify(key)}: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
      );
    }
    if (negated || peek() === '' || peek() === ',') {
      matchers.push(negated ? (labels) => labels?.[key] === undefined : (labels) => labels?.[key] !== undefined);
    } else {
      const operator = take();
      if (operator === '=' || operator === '==' || operator === '!=') {
        const value = isWord(peek()) ? take() : '';
        checkValue(key, value);
        const equals = operator !== '!=';
        matchers.push((labels) => (labels?.[key] === value) === equals);
      } else if (operator === '>' || operator === '<') {
        const bound = Number(take());
        matchers.push((labels) => {
          const value = Number(labels?.[key] ?? NaN);
          return operator === '>' ? value > bound : value < bound;
        });
      } else if (operator === 'in' || operator === 'notin') {
        if (take() !== '(') throw fail(tokens[position - 1] ?? '', "'('");
        const values = new Set<string>();
        while (peek() !== ')') {
          if (peek() === '') throw fail('', "',', ')' or identifier");
          const token = take();
          if (isWord(token)) {
            checkValue(key, token);
            values.add(token);
          } else if (token !== ',') throw fail(token, "',', ')' or identifier");
        }
        take();
        if (values.size === 0) values.add('');
        matchers.push((labels) => {
          const value = labels?.[key];
          return operator === 'in'
            ? value !== undefined && values.has(value)
            : value === undefined || !values.has(value);
        });
      } else {
        throw fail(operator, 'in, notin, =, ==, !=, gt, lt');
      }
    }
    if (position < tokens.length) {
      const separator = take();
      if (separator !== ',') throw badRequest(`found '${separator}', expected: ',' or 'end of string'`);
      if (!isWord(peek()) && peek() !== '!') throw badRequest(`found '${peek()}', expected: identifier after ','`);
    }
  }
  return (labels) => matchers.every((matches) => matches(labels));
}

function tokenize(text: string): string[] {
  return text.match(/==|!=|[!=<>(),]|[^\s!=<>(),]+/g) ?? [];
}

function isWord(token: string): boolean {
  return token !== '' && !/^(==|!=|[!=<>(),])$/.test(token);
}

function checkValue(key: string, value: string): void {
  if (VALUE.test(value)) return;
  const why =
    value.length > 63
      ? 'must be no more than 63 bytes'
      : "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
  throw badRequest(`unable to parse requirement: values[0][${key}]: Invalid value: ${JSON.stringify(value)}: ${why}`);
}
