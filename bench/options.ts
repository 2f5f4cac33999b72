import { parseArgs } from 'node:util';

/** How a command that measures an operator is called. */
interface Command {
  /** The folder in bench/. */
  readonly name: string;
  /** The option that says of how many things, as in `--nodes 1,100`, how many it takes unless told, and at most. */
  readonly of: 'clouds' | 'nodes';
  readonly fallback: string;
  readonly most: number;
  readonly help: string;
}

/** What it was told. */
export interface Options {
  readonly sizes: readonly number[];
  /** MiB of the operator's heap. */
  readonly heap: number;
  /** Whether nodes run nothing. */
  readonly hollow: boolean;
  /** Flags of Node for the operator, such as `--cpu-prof`. */
  readonly flags: readonly string[];
}

/** What `--heap` and `--profile` do, in a help text. */
export const commonHelp = `  --heap MiB        of the operator (default 358: 70 % of the memory that config/manager allows it)
  --profile DIR     has V8 write where the operator's processor time goes there`;

/** The arguments of a command; undefined when it has nothing to do but end: its help, or what is wrong, is printed. */
export function optionsOf({ name, of, fallback, most, help }: Command): Options | undefined {
  const { values } = parseArgs({
    options: {
      [of]: { type: 'string', default: fallback },
      heap: { type: 'string', default: '358' },
      profile: { type: 'string' },
      hollow: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const stated = String((values as Readonly<Record<string, unknown>>)[of]);
  const sizes = stated.split(',').map(Number);
  const heap = Number(values.heap);
  const refuse = (words: string) => {
    process.stderr.write(`bench/${name}: ${words}\n`);
    process.exitCode = 2;
    return undefined;
  };
  if (values.help) {
    process.stdout.write(help);
    return undefined;
  }
  if (sizes.some((size) => !Number.isInteger(size) || size < 1 || size > most))
    return refuse(`--${of} ${stated}: numbers from 1 to ${most} are expected, as in ${fallback}`);
  if (!Number.isInteger(heap) || heap < 64)
    return refuse(`--heap ${values.heap}: a number of MiB from 64 on is expected`);
  const flags = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`];
  return { sizes, heap, hollow: values.hollow, flags };
}
