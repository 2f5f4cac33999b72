import { MysqlError } from './mysql-protocol.ts';

/** A token of a statement; `at` is where it begins in the text. */
export interface SqlToken {
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'symbol';
  readonly value: string;
  readonly at: number;
}

const pattern =
  /(?<space>\s+|--(?=\s|$)[^\n]*|#[^\n]*|\/\*(?![!])[\s\S]*?\*\/)|(?<text>'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*")|(?<name>`(?:[^`]|``)*`)|(?<number>\d+(?![\w]))|(?<word>[\w$]+)|(?<symbol>@@|[^\s])/gy;

/** The tokens of one statement, without comments. @throws MysqlError 1064 for a quotation that never ends */
export function tokenize(sql: string): SqlToken[] {
  const tokens: SqlToken[] = [];
  for (const match of sql.matchAll(pattern)) {
    const { space, text, name, number, word, symbol } = match.groups as Record<string, string | undefined>;
    if (space !== undefined) continue;
    const at = match.index;
    if (text !== undefined) tokens.push({ kind: 'text', value: unquote(text), at });
    else if (name !== undefined) tokens.push({ kind: 'name', value: name.slice(1, -1).replaceAll('``', '`'), at });
    else if (number !== undefined) tokens.push({ kind: 'number', value: number, at });
    else if (word !== undefined) tokens.push({ kind: 'word', value: word, at });
    else if (symbol === "'" || symbol === '"' || symbol === '`') throw syntaxError(sql, at);
    else tokens.push({ kind: 'symbol', value: symbol as string, at });
  }
  return tokens;
}

function unquote(text: string): string {
  const quote = text[0] as string;
  const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', '0': '\0' };
  return text
    .slice(1, -1)
    .replaceAll(quote + quote, quote)
    .replaceAll(/\\([\s\S])/g, (_all, char: string) => escapes[char] ?? char);
}

/** The server's answer to what it cannot parse, from the offending place on. */
export function syntaxError(sql: string, at: number): MysqlError {
  const before = sql.slice(0, at);
  return new MysqlError(
    1064,
    'You have an error in your SQL syntax; check the manual that corresponds to your MariaDB server version for the ' +
      `right syntax to use near '${sql.slice(at, at + 80)}' at line ${before.split('\n').length}`,
  );
}

/** One statement of a script and the line on which it begins (from 1). */
export interface SqlStatement {
  readonly sql: string;
  readonly line: number;
}

/** Cuts a client's input into statements at semicolons outside quotations and comments. */
export function splitStatements(script: string): SqlStatement[] {
  const statements: SqlStatement[] = [];
  let start = 0;
  const add = (end: number): void => {
    const raw = script.slice(start, end);
    const sql = raw.trim();
    if (tokenizeLoosely(sql) > 0) {
      const line = script.slice(0, start + raw.indexOf(sql)).split('\n').length;
      statements.push({ sql, line });
    }
    start = end + 1;
  };
  for (const match of script.matchAll(pattern)) if (match[0] === ';') add(match.index);
  add(script.length);
  return statements;
}

function tokenizeLoosely(sql: string): number {
  try {
    return tokenize(sql).length;
  } catch {
    return 1;
  }
}
