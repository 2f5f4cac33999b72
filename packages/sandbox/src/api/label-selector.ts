import { isLabelValue, isQualifiedName } from '../resources/names.ts';
import { badRequest } from './status.ts';

/** Whether a set of labels is selected. */
export type LabelMatcher = (labels: Readonly<Record<string, string>> | undefined) => boolean;

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
  const fail = (words: string) => badRequest(`unable to parse requirement: ${words}`);
  while (position < tokens.length) {
    const negated = peek() === '!';
    if (negated) take();
    const key = take();
    if (!isWord(key)) {
      if (negated) throw fail(`found '${key}', expected: identifier`);
      throw badRequest(`found '${key}', expected: !, identifier, or 'end of string'`);
    }
    const [why] = isQualifiedName(key);
    if (why) throw fail(`<nil>: Invalid value: ${JSON.stringify(key)}: ${why}`);
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
        const text = take();
        const bound = Number(text);
        if (!/^-?\d+$/.test(text)) {
          throw fail(
            `values[0]: Invalid value: ${JSON.stringify(text)}: for 'Gt', 'Lt' operators, the value must be an integer`,
          );
        }
        matchers.push((labels) => {
          const value = Number(labels?.[key] ?? NaN);
          return operator === '>' ? value > bound : value < bound;
        });
      } else if (operator === 'in' || operator === 'notin') {
        if (take() !== '(') throw fail(`found '${tokens[position - 1] ?? ''}' expected: '('`);
        const values = new Set<string>();
        while (peek() !== ')') {
          if (peek() === '') throw fail(`found '', expected: ',' or ')'`);
          const token = take();
          if (isWord(token)) {
            checkValue(key, token);
            values.add(token);
          } else if (token !== ',') throw fail(`found '${token}', expected: ',', ')' or identifier`);
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
        throw fail(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
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
  const [why] = isLabelValue(value);
  if (!why) return;
  throw badRequest(`unable to parse requirement: values[0][${key}]: Invalid value: ${JSON.stringify(value)}: ${why}`);
}
