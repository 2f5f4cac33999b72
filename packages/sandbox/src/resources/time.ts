import { parseTimestamp, realClock, timestamp } from '@openstack-operator/kube';

const rfc3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/;

/** An RFC 3339 time as `metav1.Time` writes it: UTC, whole seconds. An Error when the text is none. */
export function canonicalTime(text: string): string | Error {
  const [seconds] = parse(text) ?? [];
  return seconds === undefined ? parseError(text, '2006-01-02T15:04:05Z07:00') : `${seconds}Z`;
}

/** An RFC 3339 time as `metav1.MicroTime` writes it: UTC, six digits of fraction. An Error when the text is none. */
export function canonicalMicroTime(text: string): string | Error {
  const [seconds, fraction = ''] = parse(text) ?? [];
  if (seconds === undefined || fraction.length !== 6) return parseError(text, '2006-01-02T15:04:05.000000Z07:00');
  return `${seconds}.${fraction}Z`;
}

function parse(text: string): [string, string] | undefined {
  const match = rfc3339.exec(text);
  const milliseconds = match ? parseTimestamp(text.replace(/[.,]\d+/, '')) : Number.NaN;
  if (Number.isNaN(milliseconds)) return undefined;
  return [timestamp({ ...realClock, now: () => milliseconds }).slice(0, 19), match?.[7] ?? ''];
}

/** Go's words for the first part of the layout that the text does not meet. */
function parseError(text: string, layout: string): Error {
  const parts: [RegExp, string][] = [
    [/^\d{4}/, '2006'],
    [/^-/, '-'],
    [/^\d{2}/, '01'],
    [/^-/, '-'],
    [/^\d{2}/, '02'],
    [/^T/, 'T'],
    [/^\d{2}/, '15'],
    [/^:/, ':'],
    [/^\d{2}/, '04'],
    [/^:/, ':'],
    [layout.includes('.') ? /^\d{2}/ : /^\d{2}(?:[.,]\d+)?/, '05'],
    [layout.includes('.') ? /^\.\d{6}(?!\d)/ : /^/, '.000000'],
    [/^(?:Z|[+-]\d{2}:\d{2})/, 'Z07:00'],
  ];
  let rest = text;
  for (const [expression, name] of parts) {
    const match = expression.exec(rest);
    if (!match)
      return new Error(
        `parsing time ${JSON.stringify(text)} as "${layout}": cannot parse ${JSON.stringify(rest)} as "${name}"`,
      );
    rest = rest.slice(match[0].length);
  }
  return new Error(`parsing time ${JSON.stringify(text)}: day out of range`);
}
