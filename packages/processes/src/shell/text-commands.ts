import { hash } from 'node:crypto';
import { type Process, type Program, SystemError } from '@openstack-operator/sandbox';
import { parseCommandLine } from '../command-line.ts';
import { CommandError, command, commandWith, nameOf, notModelled } from '../program-support.ts';
import { absolutePath } from './file-commands.ts';
import { echo, printf } from './output-commands.ts';

/** Text of the named files (`-` and no name: standard input); a file that cannot be read is reported. */
function inputs(
  process: Process,
  operands: readonly string[],
  silent = false,
): { texts: { name: string; text: string }[]; failed: boolean } {
  let failed = false;
  const texts = (operands.length > 0 ? operands : ['-']).flatMap((operand) => {
    if (operand === '-') return [{ name: '(standard input)', text: process.stdin ?? '' }];
    try {
      return [{ name: operand, text: process.files.read(absolutePath(process, operand)) }];
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      if (!silent) process.stderr(`${nameOf(process)}: ${operand}: ${error.reason}\n`);
      failed = true;
      return [];
    }
  });
  return { texts, failed };
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

const print = (process: Process, lines: readonly string[]): void =>
  lines.forEach((line) => process.stdout(`${line}\n`));

const cat = command((process) => {
  const { texts, failed } = inputs(process, parseCommandLine(process.argv.slice(1), { flags: 'u' }).operands);
  for (const { text } of texts) process.stdout(text);
  return failed ? 1 : 0;
});

/** A POSIX basic or extended regular expression as JavaScript's. */
function regularExpression(process: Process, pattern: string, extended: boolean, flags: string): RegExp {
  const classes: Record<string, string> = {
    space: '\\s',
    digit: '\\d',
    alpha: 'A-Za-z',
    alnum: 'A-Za-z0-9',
    upper: 'A-Z',
    lower: 'a-z',
    blank: ' \\t',
  };
  let source = pattern.replaceAll(
    /\[:(\w+):\]/g,
    (_all, name: string) => classes[name] ?? notModelled(process, `[:${name}:]`),
  );
  if (!extended)
    source = source.replaceAll(/\\?[(){}|+?]/g, (symbol) =>
      symbol.startsWith('\\') ? symbol.slice(1) : `\\${symbol}`,
    );
  try {
    return new RegExp(source, flags);
  } catch {
    throw new CommandError(`${nameOf(process)}: Invalid regular expression: ${pattern}`, 2);
  }
}

function substitution(process: Process, script: string, extended: boolean): (line: string) => string {
  const separator = script[1] ?? '';
  const parts = [''];
  for (let i = 2; i < script.length; i += 1) {
    // A backslash takes the next character along, be it a separator or a backslash.
    const piece = script[i] === '\\' ? script.slice(i, i + 2) : (script[i] ?? '');
    if (piece === separator) parts.push('');
    else parts[parts.length - 1] += piece;
    i += piece.length - 1;
  }
  if (!script.startsWith('s') || parts.length !== 3 || !/^[gI]*$/.test(parts[2] as string))
    notModelled(process, `the script ${script}`);
  const [pattern, replacement, flags] = parts as [string, string, string];
  const expression = regularExpression(process, pattern, extended, flags.replace('I', 'i'));
  const text = replacement
    .replaceAll('$', '$$$$')
    .replaceAll(/\\(\d)/g, '$$$1')
    .replaceAll(/(?<!\\)&/g, '$$&')
    .replaceAll(/\\([^\d])/g, '$1');
  return (line) => line.replace(expression, text);
}

function ranges(process: Process, text: string): (index: number) => boolean {
  const spans = text.split(',').map((span) => {
    const match = /^(\d*)(-?)(\d*)$/.exec(span) ?? notModelled(process, `the list ${text}`);
    const from = Number(match[1] || 1);
    return [from, match[2] === '' ? from : Number(match[3] || Infinity)] as const;
  });
  return (index) => spans.some(([from, to]) => index >= from && index <= to);
}

const headOrTail = (last: boolean): Program =>
  command((process) => {
    const words = process.argv.slice(1).flatMap((word) => (/^-\d+$/.test(word) ? ['-n', word.slice(1)] : [word]));
    const line = parseCommandLine(words, { values: 'n c', flags: 'f F q' });
    if (line.has('f') || line.has('F')) notModelled(process, '-f');
    const { texts, failed } = inputs(process, line.operands);
    const count = Number(line.value('n') ?? line.value('c') ?? 10);
    for (const { text } of texts) {
      if (line.value('c') !== undefined) process.stdout(last ? text.slice(-count) : text.slice(0, count));
      else print(process, last ? (count > 0 ? linesOf(text).slice(-count) : []) : linesOf(text).slice(0, count));
    }
    return failed ? 1 : 0;
  });

function characters(process: Process, set: string): string[] {
  const names: Record<string, string> = {
    upper: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
    lower: 'abcdefghijklmnopqrstuvwxyz',
    digit: '0123456789',
    space: ' \t\n\r',
  };
  const named = /^\[:(\w+):\]$/.exec(set);
  if (named) return Array.from(names[named[1] as string] ?? notModelled(process, set));
  const plain = printf(['%b', set]);
  const range = (_all: string, from: string, to: string): string => {
    let text = '';
    for (let code = from.charCodeAt(0); code <= to.charCodeAt(0); code += 1) text += String.fromCharCode(code);
    return text;
  };
  return Array.from(plain.replaceAll(/(.)-(.)/g, range));
}

/** Coreutils that work on text, with grep and sed (`s///` alone). */
export const textCommands: Readonly<Record<string, Program>> = {
  cat,
  grep: commandWith({ flags: 'q|quiet v i E F c o s x w n l h a r', values: 'e m' }, (process, line) => {
    if (line.has('r') || line.has('w')) notModelled(process, '-r, -w');
    const operands = [...line.operands];
    const patterns = line.values('e').length > 0 ? line.values('e') : [operands.shift() ?? ''];
    const expressions = patterns.map((pattern) => {
      const plain = line.has('F') ? pattern.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`) : pattern;
      const source = regularExpression(process, plain, line.has('E') || line.has('F'), '').source;
      return new RegExp(line.has('x') ? `^(?:${source})$` : source, line.has('i') ? 'i' : '');
    });
    const { texts, failed } = inputs(process, operands, line.has('s'));
    let matches = 0;
    for (const { name, text } of texts) {
      const prefix = operands.length > 1 && !line.has('h') ? `${name}:` : '';
      for (const [index, candidate] of linesOf(text).entries()) {
        const match = expressions.map((expression) => expression.exec(candidate)).find((found) => found !== null);
        if ((match !== undefined) === line.has('v')) continue;
        matches += 1;
        if (line.has('l')) {
          process.stdout(`${name}\n`);
          break;
        }
        if (line.has('quiet') || line.has('c')) continue;
        const number = line.has('n') ? `${index + 1}:` : '';
        process.stdout(`${prefix}${number}${line.has('o') && match ? match[0] : candidate}\n`);
        if (matches >= Number(line.value('m') ?? Infinity)) return 0;
      }
    }
    if (line.has('c')) process.stdout(`${matches}\n`);
    if (matches > 0 && (line.has('q') || !failed)) return 0;
    return failed ? 2 : 1;
  }),
  sed: commandWith({ flags: 'n E r i z', values: 'e' }, (process, line) => {
    const operands = [...line.operands];
    const scripts = line.values('e').length > 0 ? line.values('e') : [operands.shift() ?? ''];
    const steps = scripts
      .flatMap((script) => script.split(/\n|;(?=s)/))
      .map((script) => substitution(process, script.trim(), line.has('E') || line.has('r')));
    const edited = (piece: string): string => steps.reduce((current, step) => step(current), piece);
    const edit = (text: string): string =>
      line.has('z')
        ? text.split('\0').map(edited).join('\0')
        : linesOf(text)
            .map((one) => `${edited(one)}\n`)
            .join('');
    if (line.has('n')) notModelled(process, '-n');
    if (line.has('i')) {
      for (const operand of operands) {
        const path = absolutePath(process, operand);
        process.files.write(path, edit(process.files.read(path)));
      }
      return 0;
    }
    const { texts, failed } = inputs(process, operands);
    for (const { text } of texts) process.stdout(edit(text));
    return failed ? 2 : 0;
  }),
  cut: commandWith({ flags: 's', values: 'd f c' }, (process, line) => {
    const { texts, failed } = inputs(process, line.operands);
    const list = line.value('f') ?? line.value('c');
    if (list === undefined) throw new CommandError('cut: you must specify a list of bytes, characters, or fields');
    const chosen = ranges(process, list);
    const delimiter = line.value('c') === undefined ? (line.value('d') ?? '\t') : '';
    for (const text of texts.flatMap((input) => linesOf(input.text))) {
      if (delimiter !== '' && !text.includes(delimiter)) {
        if (!line.has('s')) process.stdout(`${text}\n`);
      } else
        process.stdout(
          `${text
            .split(delimiter)
            .filter((_, index) => chosen(index + 1))
            .join(delimiter)}\n`,
        );
    }
    return failed ? 1 : 0;
  }),
  head: headOrTail(false),
  tail: headOrTail(true),
  sha256sum: command((process) => {
    const { texts, failed } = inputs(process, parseCommandLine(process.argv.slice(1), { flags: '' }).operands);
    for (const { name, text } of texts)
      process.stdout(`${hash('sha256', text)}  ${name === '(standard input)' ? '-' : name}\n`);
    return failed ? 1 : 0;
  }),
  sort: commandWith({ flags: 'u n r V' }, (process, line) => {
    if (line.has('V')) notModelled(process, '-V');
    const { texts, failed } = inputs(process, line.operands);
    const lines = texts.flatMap((input) => linesOf(input.text));
    lines.sort((a, b) => (line.has('n') ? Number.parseFloat(a) - Number.parseFloat(b) : a < b ? -1 : a > b ? 1 : 0));
    if (line.has('r')) lines.reverse();
    print(process, line.has('u') ? [...new Set(lines)] : lines);
    return failed ? 2 : 0;
  }),
  tr: commandWith({ flags: 'd s c', stopAtOperand: true }, (process, line) => {
    if (line.has('s')) notModelled(process, '-s');
    const from = characters(process, line.operands[0] ?? '');
    const to = characters(process, line.operands[1] ?? '');
    const chosen = (char: string): boolean => from.includes(char) !== line.has('c');
    for (const char of process.stdin ?? '') {
      if (!chosen(char)) process.stdout(char);
      else if (!line.has('d'))
        process.stdout((line.has('c') ? to.at(-1) : (to[from.indexOf(char)] ?? to.at(-1))) ?? '');
    }
    return 0;
  }),
  echo: command((process) => (process.stdout(echo(process.argv.slice(1), false)), 0)),
  printf: command((process) => (process.stdout(printf(process.argv.slice(1))), 0)),
};
