import { type SqlToken, syntaxError, tokenize } from './sql-tokens.ts';

/** Reads a statement's tokens one after the other; whatever does not fit is error 1064 at its place. */
export class SqlReader {
  readonly sql: string;
  readonly #tokens: readonly SqlToken[];
  #position = 0;

  constructor(sql: string) {
    this.sql = sql;
    this.#tokens = tokenize(sql);
  }

  /** The next token, if it is there; not consumed. */
  get next(): SqlToken | undefined {
    return this.#tokens[this.#position];
  }

  fail(): never {
    throw syntaxError(this.sql, this.next?.at ?? this.sql.length);
  }

  /** Consumes these keywords (or symbols) when they all come next. */
  accept(...words: readonly string[]): boolean {
    const all = words.every((word, index) => {
      const token = this.#tokens[this.#position + index];
      return (
        token !== undefined && (token.kind === 'word' || token.kind === 'symbol') && token.value.toUpperCase() === word
      );
    });
    if (all) this.#position += words.length;
    return all;
  }

  expect(...words: readonly string[]): void {
    for (const word of words) if (!this.accept(word)) this.fail();
  }

  /** A name: bare or in backquotes. */
  name(): string {
    const token = this.next;
    if (token === undefined || (token.kind !== 'word' && token.kind !== 'name')) return this.fail();
    this.#position += 1;
    return token.value;
  }

  /** A text in quotes. */
  text(): string {
    const token = this.next;
    if (token?.kind !== 'text') return this.fail();
    this.#position += 1;
    return token.value;
  }

  /** A name or a text. */
  word(): string {
    return this.next?.kind === 'text' ? this.text() : this.name();
  }

  /** `user@host`; the host is `%` when there is none. */
  account(): { user: string; host: string } {
    if (this.accept('CURRENT_USER')) {
      if (this.accept('(')) this.expect(')');
      return { user: '', host: 'CURRENT_USER' };
    }
    const user = this.word();
    if (!this.accept('@')) return { user, host: '%' };
    let host = this.word();
    // An address without quotes comes in several tokens.
    while (this.accept('.')) host += `.${this.next?.kind === 'number' ? this.number() : this.name()}`;
    return { user, host };
  }

  number(): string {
    const token = this.next;
    if (token?.kind !== 'number') return this.fail();
    this.#position += 1;
    return token.value;
  }

  /** A list with commas. */
  list<T>(one: () => T): T[] {
    const items = [one()];
    while (this.accept(',')) items.push(one());
    return items;
  }

  /** Nothing but an optional semicolon may follow. */
  end(): void {
    if (this.next === undefined) return;
    const position = this.#position;
    if (this.accept(';') && this.next === undefined) return;
    // The server names what stands behind the statement, not the semicolon.
    this.#position = Math.min(position + (this.#tokens[position]?.value === ';' ? 1 : 0), this.#tokens.length);
    this.fail();
  }

  /** Everything that is left, as it was written. */
  rest(): string {
    const text = this.next === undefined ? '' : this.sql.slice(this.next.at).replace(/;\s*$/, '');
    this.#position = this.#tokens.length;
    return text;
  }
}
