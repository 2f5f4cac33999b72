import {
  type AndOr,
  type Assignment,
  type Command,
  type Pipeline,
  type Redirection,
  type Script,
  type Word,
} from './syntax.ts';
import { literalOf, WordReader } from './word-reader.ts';

const reserved = new Set('if then else elif fi do done case esac while until for { } !'.split(' '));

/** Scripts by their text: probes run the same few every ten seconds, which was a tenth of what a cloud at rest costs. */
const parsed = new Map<string, Script>();
const MOST_PARSED = 1000;

/**
 * Parses a POSIX shell script.
 * @throws ShellSyntaxError for what is no valid script and for what this shell does not know
 */
export function parseScript(text: string, line = 1): Script {
  const key = `${line} ${text}`;
  const known = parsed.get(key);
  if (known !== undefined) return known;
  const script = parseAnew(text, line);
  if (parsed.size === MOST_PARSED) parsed.clear();
  parsed.set(key, script);
  return script;
}

function parseAnew(text: string, line: number): Script {
  const parser = new Parser(text, line);
  const script = parser.script([]);
  parser.expectEnd();
  return script;
}

interface PendingHereDocument {
  readonly delimiter: string;
  readonly expand: boolean;
  readonly stripTabs: boolean;
  /** Whose target it becomes. */
  readonly redirection: { target: Word };
}

class Parser {
  readonly #reader: WordReader;
  #pending: PendingHereDocument[] = [];

  constructor(text: string, line: number) {
    this.#reader = new WordReader(text, parseScript, line);
  }

  expectEnd(): void {
    this.#blanks(true);
    if (this.#reader.position < this.#reader.text.length) this.#unexpected();
  }

  /** Commands up to one of the reserved words in `until`, a closing parenthesis, or the end. */
  script(until: readonly string[]): Script {
    const items: AndOr[] = [];
    for (;;) {
      this.#blanks(true);
      if (this.#reader.position >= this.#reader.text.length || this.#reader.at(')') || this.#reader.at(';;')) break;
      const keyword = this.#peekKeyword();
      if (keyword !== undefined && until.includes(keyword)) break;
      items.push(this.#andOr());
    }
    return items;
  }

  #andOr(): AndOr {
    const first = this.#pipeline();
    const rest: AndOr['rest'][number][] = [];
    for (;;) {
      this.#blanks(false);
      const operator = this.#reader.at('&&') ? '&&' : this.#reader.at('||') ? '||' : undefined;
      if (operator === undefined) break;
      this.#reader.position += 2;
      this.#blanks(true);
      rest.push({ operator, pipeline: this.#pipeline() });
    }
    let background = false;
    if (this.#reader.at(';') && !this.#reader.at(';;')) this.#reader.position += 1;
    else if (this.#reader.at('&')) {
      this.#reader.position += 1;
      background = true;
    }
    return { first, rest, background };
  }

  #pipeline(): Pipeline {
    this.#blanks(false);
    const negated = this.#peekKeyword() === '!';
    if (negated) this.#keyword('!');
    const commands = [this.#command()];
    for (;;) {
      this.#blanks(false);
      if (!this.#reader.at('|') || this.#reader.at('||')) return { negated, commands };
      this.#reader.position += 1;
      if (this.#reader.at('&')) this.#reader.fail('|& is not modelled');
      this.#blanks(true);
      commands.push(this.#command());
    }
  }

  #command(): Command {
    this.#blanks(false);
    if (this.#reader.at('(')) {
      this.#reader.position += 1;
      const body = this.script([]);
      this.#symbol(')');
      return { kind: 'group', subshell: true, body, redirections: this.#redirections() };
    }
    switch (this.#peekKeyword()) {
      case '{':
        return this.#group();
      case 'if':
        return this.#if();
      case 'while':
      case 'until':
        return this.#loop();
      case 'for':
        return this.#for();
      case 'case':
        return this.#case();
      case undefined:
      default:
        return this.#simple();
    }
  }

  #group(): Command {
    this.#keyword('{');
    const body = this.script(['}']);
    this.#keyword('}');
    return { kind: 'group', subshell: false, body, redirections: this.#redirections() };
  }

  #if(): Command {
    const branches: { condition: Script; body: Script }[] = [];
    let otherwise: Script | undefined;
    this.#keyword('if');
    for (;;) {
      const condition = this.script(['then']);
      this.#keyword('then');
      branches.push({ condition, body: this.script(['elif', 'else', 'fi']) });
      if (this.#peekKeyword() !== 'elif') break;
      this.#keyword('elif');
    }
    if (this.#peekKeyword() === 'else') {
      this.#keyword('else');
      otherwise = this.script(['fi']);
    }
    this.#keyword('fi');
    return { kind: 'if', branches, ...(otherwise && { otherwise }), redirections: this.#redirections() };
  }

  #loop(): Command {
    const until = this.#peekKeyword() === 'until';
    this.#keyword(until ? 'until' : 'while');
    const condition = this.script(['do']);
    const body = this.#doGroup();
    return { kind: 'loop', until, condition, body, redirections: this.#redirections() };
  }

  #for(): Command {
    this.#keyword('for');
    this.#blanks(false);
    const variable = literalOf(this.#reader.word() ?? []);
    if (variable === undefined || !/^[A-Za-z_]\w*$/.test(variable))
      this.#reader.fail('Syntax error: Bad for loop variable');
    this.#blanks(true);
    let words: Word[] | undefined;
    if (this.#peekKeyword('in') === 'in') {
      this.#keyword('in');
      words = [];
      for (;;) {
        this.#blanks(false);
        const word = this.#reader.word();
        if (word === undefined) break;
        words.push(word);
      }
    }
    this.#blanks(false);
    if (this.#reader.at(';')) this.#reader.position += 1;
    const body = this.#doGroup();
    return { kind: 'for', variable, ...(words && { words }), body, redirections: this.#redirections() };
  }

  #doGroup(): Script {
    this.#blanks(true);
    this.#keyword('do');
    const body = this.script(['done']);
    this.#keyword('done');
    return body;
  }

  #case(): Command {
    this.#keyword('case');
    this.#blanks(false);
    const subject = this.#reader.word() ?? this.#unexpected();
    this.#blanks(true);
    this.#keyword('in');
    const clauses: { patterns: Word[]; body: Script }[] = [];
    for (;;) {
      this.#blanks(true);
      if (this.#peekKeyword() === 'esac') break;
      if (this.#reader.at('(')) this.#reader.position += 1;
      const patterns: Word[] = [];
      for (;;) {
        this.#blanks(false);
        patterns.push(this.#reader.word() ?? this.#unexpected());
        this.#blanks(false);
        if (!this.#reader.at('|')) break;
        this.#reader.position += 1;
      }
      this.#symbol(')');
      const body = this.script(['esac']);
      clauses.push({ patterns, body });
      this.#blanks(true);
      if (this.#reader.at(';;')) this.#reader.position += 2;
    }
    this.#keyword('esac');
    return { kind: 'case', subject, clauses, redirections: this.#redirections() };
  }

  #simple(): Command {
    const line = this.#reader.line;
    const assignments: Assignment[] = [];
    const words: Word[] = [];
    const redirections: Redirection[] = [];
    for (;;) {
      this.#blanks(false);
      const redirection = this.#redirection();
      if (redirection !== undefined) {
        redirections.push(redirection);
        continue;
      }
      const word = this.#reader.word();
      if (word === undefined) break;
      const assignment = words.length === 0 ? assignmentOf(word) : undefined;
      if (assignment !== undefined) {
        if (this.#reader.at('(')) this.#reader.fail('arrays are not modelled');
        assignments.push(assignment);
      } else words.push(word);
      if (words.length === 1 && this.#reader.at('(')) return this.#function(words[0] as Word);
    }
    if (words.length + assignments.length + redirections.length === 0) this.#unexpected();
    const name = words[0] && literalOf(words[0]);
    if (name === 'function' || name === '((' || name === 'select' || name === 'coproc') {
      this.#reader.fail(`${name} is not modelled`);
    }
    if (name !== undefined && reserved.has(name) && words[0]?.every((part) => part.kind === 'text' && !part.quoted)) {
      this.#reader.fail(`Syntax error: "${name}" unexpected`);
    }
    return { kind: 'simple', assignments, words, redirections, line };
  }

  #function(word: Word): Command {
    const name = literalOf(word);
    this.#symbol('(');
    this.#symbol(')');
    if (name === undefined || !/^[A-Za-z_][\w-]*$/.test(name)) this.#reader.fail('Syntax error: Bad function name');
    this.#blanks(true);
    return { kind: 'function', name, body: this.#command() };
  }

  #redirections(): Redirection[] {
    const found: Redirection[] = [];
    for (;;) {
      this.#blanks(false);
      const redirection = this.#redirection();
      if (redirection === undefined) return found;
      found.push(redirection);
    }
  }

  #redirection(): Redirection | undefined {
    const match = /^(\d*)(&>|<<<|<<-|<<|>>|>&|<&|>\||<>|<|>)/.exec(this.#reader.text.slice(this.#reader.position));
    if (match === null) return undefined;
    const [all, digits, operator] = match as unknown as [string, string, string];
    if (this.#reader.text[this.#reader.position + all.length] === '(')
      this.#reader.fail('process substitution is not modelled');
    if (operator === '<>') this.#reader.fail('<> is not modelled');
    this.#reader.position += all.length;
    this.#blanks(false);
    const word = this.#reader.word() ?? this.#unexpected();
    const descriptor = digits !== '' ? Number(digits) : operator.startsWith('<') ? 0 : 1;
    if (operator !== '<<' && operator !== '<<-') {
      return { descriptor, operator: operator as Redirection['operator'], target: word };
    }
    const redirection = { descriptor, operator: '<<' as const, target: [] as Word };
    this.#pending.push({
      delimiter: literalOf(word) ?? this.#unexpected(),
      expand: word.every((part) => !part.quoted),
      stripTabs: operator === '<<-',
      redirection,
    });
    return redirection;
  }

  /** Skips blanks, comments, line continuations; with `newlines` also line ends. Reads due here-documents. */
  #blanks(newlines: boolean): void {
    const reader = this.#reader;
    for (;;) {
      const char = reader.text[reader.position];
      if (char === ' ' || char === '\t') reader.position += 1;
      else if (reader.at('\\\n')) reader.position += 2;
      else if (char === '#') {
        const end = reader.text.indexOf('\n', reader.position);
        reader.position = end < 0 ? reader.text.length : end;
      } else if (char === '\n' && newlines) {
        reader.position += 1;
        this.#hereDocuments();
      } else return;
    }
  }

  #hereDocuments(): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const { delimiter, expand, stripTabs, redirection } of pending) {
      const lines: string[] = [];
      for (;;) {
        const reader = this.#reader;
        if (reader.position >= reader.text.length) break;
        const end = reader.text.indexOf('\n', reader.position);
        const raw = reader.text.slice(reader.position, end < 0 ? undefined : end);
        reader.position = end < 0 ? reader.text.length : end + 1;
        const line = stripTabs ? raw.replace(/^\t+/, '') : raw;
        if (line === delimiter) break;
        lines.push(`${line}\n`);
      }
      const body = lines.join('');
      redirection.target = expand
        ? new WordReader(body, parseScript).quoted(undefined)
        : [{ kind: 'text', text: body, quoted: true }];
    }
  }

  #peekKeyword(extra?: string): string | undefined {
    const match = /^(?:[a-z]+|[{}!])(?=[\s;&|()<>]|$)/.exec(this.#reader.text.slice(this.#reader.position));
    return match !== null && (reserved.has(match[0]) || match[0] === extra) ? match[0] : undefined;
  }

  #keyword(word: string): void {
    this.#blanks(true);
    if (this.#peekKeyword(word) !== word) this.#unexpected(word);
    this.#reader.position += word.length;
  }

  #symbol(symbol: string): void {
    this.#blanks(true);
    if (!this.#reader.at(symbol)) this.#unexpected(symbol);
    this.#reader.position += symbol.length;
  }

  #unexpected(expected?: string): never {
    const rest = this.#reader.text.slice(this.#reader.position);
    const found =
      rest === ''
        ? 'end of file'
        : rest[0] === '\n'
          ? 'newline'
          : `"${/^(?:[\w./-]+|\S\S?)/.exec(rest)?.[0] ?? rest[0]}"`;
    return this.#reader.fail(`Syntax error: ${found} unexpected${expected ? ` (expecting "${expected}")` : ''}`);
  }
}

function assignmentOf(word: Word): Assignment | undefined {
  let head = '';
  for (const [index, part] of word.entries()) {
    if (part.kind !== 'text' || part.quoted) return undefined;
    if (part.text === '=') {
      return /^[A-Za-z_]\w*$/.test(head) ? { name: head, value: word.slice(index + 1) } : undefined;
    }
    head += part.text;
  }
  return undefined;
}
