import { type ParameterOperator, type Script, ShellSyntaxError, type Word, type WordPart } from './syntax.ts';

/** Parses the script inside `$(...)`: handed in, because words hold scripts and scripts hold words. */
export type NestedParser = (text: string, line: number) => Script;

const parameterName = /^(?:[A-Za-z_]\w*|[0-9]+|[@*#?$!-])/;
const operators: readonly ParameterOperator[] = [':-', ':=', ':?', ':+', '%%', '##', '-', '=', '?', '+', '%', '#'];

/** A position in a script's text, and the reading of words at it. */
export class WordReader {
  readonly text: string;
  position = 0;
  readonly #nested: NestedParser;
  readonly #firstLine: number;

  constructor(text: string, nested: NestedParser, firstLine = 1) {
    this.text = text;
    this.#nested = nested;
    this.#firstLine = firstLine;
  }

  get line(): number {
    return this.#firstLine + this.text.slice(0, this.position).split('\n').length - 1;
  }

  fail(message: string): never {
    throw new ShellSyntaxError(this.line, message);
  }

  at(text: string): boolean {
    return this.text.startsWith(text, this.position);
  }

  /** Reads a word up to a blank or an operator; undefined when there is none. */
  word(): Word | undefined {
    const parts: WordPart[] = [];
    const start = this.position;
    while (this.position < this.text.length) {
      const char = this.text[this.position] as string;
      if (' \t\n;&|()<>'.includes(char)) break;
      this.#part(parts, char);
    }
    return this.position === start ? undefined : parts;
  }

  /** Everything up to `end` as one word in double quotes (here-documents: to the end of the text). */
  quoted(end: string | undefined): Word {
    const parts: WordPart[] = [];
    let literal = '';
    const flush = () => {
      if (literal !== '') parts.push({ kind: 'text', text: literal, quoted: true });
      literal = '';
    };
    for (;;) {
      const char = this.text[this.position];
      if (char === undefined) {
        if (end !== undefined) this.fail('Syntax error: Unterminated quoted string');
        break;
      }
      if (char === end) {
        this.position += 1;
        break;
      }
      if (char === '\\') {
        const next = this.text[this.position + 1];
        this.position += 2;
        if (next === '\n') continue;
        literal +=
          next !== undefined && (`$\`\\${end ?? ''}`.includes(next) || next === end) ? next : `\\${next ?? ''}`;
      } else if (char === '$' || char === '`') {
        flush();
        this.#substitution(parts, true);
      } else {
        literal += char;
        this.position += 1;
      }
    }
    flush();
    if (parts.length === 0) parts.push({ kind: 'text', text: '', quoted: true });
    return parts;
  }

  #part(parts: WordPart[], char: string): void {
    if (char === "'") {
      const end = this.text.indexOf("'", this.position + 1);
      if (end < 0) this.fail('Syntax error: Unterminated quoted string');
      parts.push({ kind: 'text', text: this.text.slice(this.position + 1, end), quoted: true });
      this.position = end + 1;
    } else if (char === '"') {
      this.position += 1;
      parts.push(...this.quoted('"'));
    } else if (char === '\\') {
      const next = this.text[this.position + 1];
      this.position += 2;
      if (next !== '\n') parts.push({ kind: 'text', text: next ?? '\\', quoted: true });
    } else if (char === '$' || char === '`') {
      this.#substitution(parts, false);
    } else {
      parts.push({ kind: 'text', text: char, quoted: false });
      this.position += 1;
    }
  }

  #substitution(parts: WordPart[], quoted: boolean): void {
    if (this.at('`')) {
      const end = this.text.indexOf('`', this.position + 1);
      if (end < 0) this.fail('Syntax error: EOF in backquote substitution');
      const script = this.text
        .slice(this.position + 1, end)
        .replaceAll('\\`', '`')
        .replaceAll('\\$', '$');
      parts.push({ kind: 'command', script: this.#nested(script, this.line), quoted });
      this.position = end + 1;
    } else if (this.at('$((')) {
      this.position += 3;
      const inner = this.#balanced(2);
      const reader = new WordReader(inner, this.#nested, this.line);
      parts.push({ kind: 'arithmetic', expression: reader.quoted(undefined), quoted });
    } else if (this.at('$(')) {
      this.position += 2;
      const line = this.line;
      parts.push({ kind: 'command', script: this.#nested(this.#balanced(1), line), quoted });
    } else if (this.at('${')) {
      this.position += 2;
      parts.push(this.#braced(quoted));
    } else {
      const name = parameterName.exec(this.text.slice(this.position + 1))?.[0];
      if (name === undefined) {
        parts.push({ kind: 'text', text: '$', quoted });
        this.position += 1;
        return;
      }
      const single = /^[0-9]/.test(name) ? name.slice(0, 1) : name;
      parts.push({ kind: 'parameter', name: single, quoted });
      this.position += 1 + single.length;
    }
  }

  #braced(quoted: boolean): WordPart {
    if (this.at('#') && !this.at('#}')) {
      const name = parameterName.exec(this.text.slice(this.position + 1))?.[0];
      if (name !== undefined && this.text[this.position + 1 + name.length] === '}') {
        this.position += name.length + 2;
        return { kind: 'parameter', name, quoted, operator: 'length' };
      }
    }
    const name = parameterName.exec(this.text.slice(this.position))?.[0];
    if (name === undefined) this.fail('Bad substitution');
    this.position += name.length;
    if (this.at('}')) {
      this.position += 1;
      return { kind: 'parameter', name, quoted };
    }
    const operator = operators.find((candidate) => this.at(candidate));
    if (operator === undefined) this.fail('Bad substitution');
    this.position += operator.length;
    const operand: WordPart[] = [];
    for (;;) {
      const char = this.text[this.position];
      if (char === undefined) this.fail("Syntax error: Missing '}'");
      if (char === '}') {
        this.position += 1;
        return { kind: 'parameter', name, quoted, operator, operand };
      }
      if (quoted && char === "'") {
        operand.push({ kind: 'text', text: char, quoted: true });
        this.position += 1;
      } else this.#part(operand, char);
    }
  }

  /** The text up to the parenthesis that closes it (`depth` of them), quotes respected; moves behind. */
  #balanced(depth: number): string {
    const start = this.position;
    let open = 0;
    for (let i = start; i < this.text.length; i += 1) {
      const char = this.text[i];
      if (char === '\\') i += 1;
      else if (char === "'" || char === '"') {
        let end = i + 1;
        while (end < this.text.length && this.text[end] !== char)
          end += char === '"' && this.text[end] === '\\' ? 2 : 1;
        i = end;
      } else if (char === '(') open += 1;
      else if (char === ')') {
        if (open === 0 && this.text.startsWith(')'.repeat(depth), i)) {
          this.position = i + depth;
          return this.text.slice(start, i);
        }
        open -= 1;
      }
    }
    return this.fail('Syntax error: end of file unexpected (expecting ")")');
  }
}

/** The word's text when no part of it needs expansion, else undefined: for keywords, names, delimiters. */
export function literalOf(word: Word): string | undefined {
  let text = '';
  for (const part of word) {
    if (part.kind !== 'text') return undefined;
    text += part.text;
  }
  return text;
}
