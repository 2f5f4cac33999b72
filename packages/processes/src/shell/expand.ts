import { evaluateArithmetic } from './arithmetic.ts';
import { isPattern, type PatternCharacter, patternSource } from './pattern.ts';
import { assign, resolvePath, ShellError, type ShellState } from './state.ts';
import type { Word, WordPart } from './syntax.ts';

/** A character after expansion, or a border between fields (`"$@"`). */
type Piece = SplittableCharacter | { readonly border: true } | { readonly empty: true };

/** Expands words to fields: variables, substitutions, field splitting, path names, quote removal. */
export async function expandFields(state: ShellState, words: readonly Word[]): Promise<string[]> {
  const fields: string[] = [];
  for (const word of words) {
    for (const field of splitFields(await expand(state, word), state.variables.get('IFS') ?? ' \t\n')) {
      const paths = state.options.noglob || !isPattern(field) ? [] : pathsOf(state, field);
      fields.push(...(paths.length > 0 ? paths : [textOf(field)]));
    }
  }
  return fields;
}

/** Expands a word to one text: assignments, redirections, here-documents, `case` subjects. */
export async function expandText(state: ShellState, word: Word): Promise<string> {
  const pieces = await expand(state, word);
  return pieces.map((piece) => ('char' in piece ? piece.char : 'border' in piece ? ' ' : '')).join('');
}

/** Expands a word to a pattern: `case` patterns and the operand of `${x%pattern}`. */
export async function expandPattern(state: ShellState, word: Word): Promise<PatternCharacter[]> {
  const pieces = await expand(state, word);
  return pieces.flatMap((piece) => ('char' in piece ? [{ char: piece.char, quoted: piece.quoted }] : []));
}

interface SplittableCharacter extends PatternCharacter {
  /** Came out of an unquoted expansion: subject to field splitting. */
  readonly expanded?: boolean;
}

async function expand(state: ShellState, word: Word): Promise<Piece[]> {
  const pieces: Piece[] = [];
  for (const [index, part] of word.entries()) {
    if (part.kind === 'text') {
      if (index === 0 && !part.quoted && part.text === '~' && tildeStands(word)) {
        push(pieces, state.variables.get('HOME') ?? '/', true);
      } else push(pieces, part.text, part.quoted);
    } else if (part.kind === 'parameter') await expandParameter(state, part, pieces);
    else if (part.kind === 'command') push(pieces, await state.substitute(state, part.script), part.quoted, true);
    else {
      const expression = await expandText(state, part.expression);
      push(pieces, String(arithmetic(state, expression)), part.quoted, true);
    }
  }
  return pieces;
}

function tildeStands(word: Word): boolean {
  const next = word[1];
  return next === undefined || (next.kind === 'text' && !next.quoted && next.text === '/');
}

function arithmetic(state: ShellState, expression: string): number {
  try {
    return evaluateArithmetic(expression, {
      get: (name) => parameterValue(state, name),
      set: (name, value) => assign(state, name, value),
    });
  } catch (error) {
    throw new ShellError((error as Error).message);
  }
}

function push(pieces: Piece[], text: string, quoted: boolean, expanded = false): void {
  if (text === '' && quoted) pieces.push({ empty: true });
  const splits = expanded && !quoted;
  for (const char of text) pieces.push(splits ? { char, quoted, expanded: true } : { char, quoted });
}

/** The value of a variable or special parameter; undefined when unset. */
export function parameterValue(state: ShellState, name: string): string | undefined {
  if (/^\d+$/.test(name)) return name === '0' ? state.name : state.positional[Number(name) - 1];
  switch (name) {
    case '?':
      return String(state.status);
    case '#':
      return String(state.positional.length);
    case '$':
      return String(state.process.pid);
    case '!':
      return state.lastBackground === undefined ? undefined : String(state.lastBackground);
    case '-':
      return `${state.options.errexit ? 'e' : ''}${state.options.nounset ? 'u' : ''}${state.options.xtrace ? 'x' : ''}`;
    case '@':
    case '*':
      return state.positional.length === 0 ? undefined : state.positional.join(' ');
    default:
      return state.variables.get(name);
  }
}

async function expandParameter(
  state: ShellState,
  part: WordPart & { kind: 'parameter' },
  pieces: Piece[],
): Promise<void> {
  const { name, operator, operand = [], quoted } = part;
  const value = parameterValue(state, name);
  const absent = value === undefined || (operator?.startsWith(':') === true && value === '');
  switch (operator) {
    case ':-':
    case '-':
      if (absent) return void pieces.push(...(await expandOperand(state, operand, quoted)));
      break;
    case ':+':
    case '+':
      if (!absent) pieces.push(...(await expandOperand(state, operand, quoted)));
      return;
    case ':=':
    case '=':
      if (absent) assign(state, name, await expandText(state, operand));
      return push(pieces, parameterValue(state, name) ?? '', quoted, true);
    case ':?':
    case '?':
      if (absent) {
        const message = await expandText(state, operand);
        throw new ShellError(
          `${name}: ${message || (operator === ':?' ? 'parameter not set or null' : 'parameter not set')}`,
        );
      }
      break;
    case '%':
    case '%%':
    case '#':
    case '##':
      return push(pieces, trim(value ?? '', operator, await expandPattern(state, operand)), quoted, true);
    case 'length':
      return push(pieces, String((value ?? '').length), quoted, true);
    case undefined:
      break;
  }
  if (value === undefined && state.options.nounset && name !== '@' && name !== '*') {
    throw new ShellError(state.dialect === 'bash' ? `${name}: unbound variable` : `${name}: parameter not set`);
  }
  if (name === '@' && quoted) {
    for (const [index, parameter] of state.positional.entries()) {
      if (index > 0) pieces.push({ border: true });
      push(pieces, parameter, true);
    }
  } else push(pieces, value ?? '', quoted, true);
}

async function expandOperand(state: ShellState, operand: Word, quoted: boolean): Promise<Piece[]> {
  const pieces: Piece[] = [];
  if (quoted) push(pieces, await expandText(state, operand), true);
  else
    for (const piece of await expand(state, operand))
      pieces.push('char' in piece && !piece.quoted ? { ...piece, expanded: true } : piece);
  return pieces;
}

function trim(value: string, operator: '%' | '%%' | '#' | '##', pattern: readonly PatternCharacter[]): string {
  const longest = operator.length === 2;
  const expression = new RegExp(`^(?:${patternSource(pattern)})$`);
  const matches = (text: string): boolean => expression.test(text);
  const lengths = Array.from({ length: value.length + 1 }, (_, length) => (longest ? value.length - length : length));
  for (const length of lengths) {
    if (operator.startsWith('#') && matches(value.slice(0, length))) return value.slice(length);
    if (operator.startsWith('%') && matches(value.slice(value.length - length)))
      return value.slice(0, value.length - length);
  }
  return value;
}

function splitFields(pieces: readonly Piece[], separators: string): PatternCharacter[][] {
  const fields: PatternCharacter[][] = [];
  let field: PatternCharacter[] | undefined;
  for (const piece of pieces) {
    if ('border' in piece) {
      if (field !== undefined) fields.push(field);
      field = [];
    } else if ('empty' in piece) field ??= [];
    else if (piece.expanded === true && separators.includes(piece.char)) {
      if (field !== undefined) fields.push(field);
      else if (!/\s/.test(piece.char)) fields.push([]);
      field = undefined;
    } else {
      field ??= [];
      field.push(piece);
    }
  }
  if (field !== undefined) fields.push(field);
  return fields;
}

function textOf(characters: readonly PatternCharacter[]): string {
  return characters.map(({ char }) => char).join('');
}

/** Paths that match, sorted; none when nothing does. */
function pathsOf(state: ShellState, field: readonly PatternCharacter[]): string[] {
  const { files } = state.process;
  const absolute = field[0]?.char === '/';
  const segments: PatternCharacter[][] = [[]];
  for (const character of field) {
    if (character.char === '/') segments.push([]);
    else segments.at(-1)?.push(character);
  }
  const onlyDirectories = segments.length > 1 && segments.at(-1)?.length === 0;
  let found: string[] = [''];
  for (const segment of segments.filter((characters) => characters.length > 0)) {
    const expression = new RegExp(`^${patternSource(segment, { path: true })}$`);
    const showHidden = segment[0]?.char === '.';
    found = found.flatMap((prefix) => {
      const here = resolvePath(state.directory, absolute ? `/${prefix}` : prefix || '.');
      if (!isPattern(segment)) {
        const name = textOf(segment);
        return files.exists(`${here === '/' ? '' : here}/${name}`) ? [prefix === '' ? name : `${prefix}/${name}`] : [];
      }
      if (!files.exists(here) || !files.isDirectory(here)) return [];
      return files
        .list(here)
        .filter((name) => expression.test(name) && (showHidden || !name.startsWith('.')))
        .map((name) => (prefix === '' ? name : `${prefix}/${name}`));
    });
  }
  const paths = found.map((path) => (absolute ? `/${path}` : path));
  if (!onlyDirectories) return paths;
  return paths.filter((path) => files.isDirectory(resolvePath(state.directory, path))).map((path) => `${path}/`);
}
