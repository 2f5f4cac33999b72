import { Database } from '../oslo/database.ts';
import { migrate, type ProjectDatabase, revisionsOf } from '../oslo/project-database.ts';
import { PythonError, SystemExit } from '../oslo/python-error.ts';
import { nameOf, pause } from '../program-support.ts';
import type { CommandContext, ServiceProgram } from './program.ts';

/** A program with subcommands, such as `nova-manage`. */
export interface ManageProgram extends Omit<ServiceProgram, 'run' | 'operands' | 'flags' | 'values'> {
  /** By their words, such as `db sync`. */
  readonly commands: Readonly<Record<string, Command>>;
  /** First words of its commands as its usage lists them, also of commands that are not modelled; blanks between. */
  readonly categories?: string;
  /** `db_sync` stands for `db sync`, too. */
  readonly underscores?: true;
  /** What is said of an exception instead of a traceback in the log, and the exit status. */
  readonly fails?: { readonly words: string; readonly status: number };
}

/** One subcommand. */
export interface Command {
  /** Its options without and with a value, and those that must be given; blanks between. */
  readonly flags?: string;
  readonly values?: string;
  readonly required?: string;
  /** What it does, and its exit status; none is 0. `words`: operands behind the command. @throws PythonError, SystemExit */
  run(context: CommandContext, words: readonly string[]): Promise<number | void>;
}

/** The program that a table describes: it knows all options of all commands, and refuses those of another command. */
export function manageProgram({ commands, categories, underscores, fails, ...program }: ManageProgram): ServiceProgram {
  const options = Object.values(commands);
  const flags = options.map((command) => command.flags ?? '').join(' ');
  const values = options.map((command) => command.values ?? '').join(' ');
  const wordsOf = (command: Command): string[] => `${command.flags ?? ''} ${command.values ?? ''}`.split(' ');
  return {
    ...program,
    // Wrong words are refused before anything is imported.
    takes: 0,
    flags,
    values,
    operands: true,
    run: async (context) => {
      const { process, line } = context;
      const given = underscores
        ? line.operands.flatMap((word) => word.replace(/^db_/, 'db ').split(' '))
        : line.operands;
      const name = Object.keys(commands).find((known) => `${given.join(' ')} `.startsWith(`${known} `));
      const command = commands[name ?? ''];
      if (name === undefined || command === undefined) return refuse(context, reasonOf(given, categories?.split(' ')));
      const known = wordsOf(command);
      const stray = options.flatMap(wordsOf).find((option) => line.has(option) && !known.includes(option));
      if (stray !== undefined) return refuse(context, `unrecognized arguments: --${stray}`);
      const missing = (command.required ?? '').split(' ').filter((option) => option !== '' && !line.has(option));
      if (missing.length > 0) return refuse(context, `the following arguments are required: --${missing.join(', --')}`);
      await pause(process, program.takes);
      try {
        return (await command.run(context, given.slice(name.split(' ').length))) ?? 0;
      } catch (error) {
        if (!(error instanceof PythonError) || fails === undefined) throw error;
        process.stdout(`${fails.words}\nTraceback (most recent call last):\n${error.lastLine}\n\n`);
        return fails.status;
      }
    },
  };
}

/** Why argparse takes words for no command. */
function reasonOf([first, second = '']: readonly string[], categories: readonly string[] | undefined): string {
  if (first === undefined) return 'the following arguments are required: command';
  if (categories === undefined) return `argument command: invalid choice: '${first}'`;
  return categories.includes(first)
    ? `argument action: invalid choice: '${second}'`
    : `argument category: invalid choice: '${first}' (choose from ${categories.join(', ')})`;
}

function refuse({ process }: CommandContext, reason: string): never {
  const name = nameOf(process);
  throw new SystemExit(2, `usage: ${name} [-h] [--config-file PATH] ...\n${name}: error: ${reason}`);
}

/** Migrates a database to heads as alembic does, with its words. */
export async function upgrade(
  { process, log }: CommandContext,
  database: Database,
  project: ProjectDatabase,
  { takes, heads }: { takes: number; heads?: readonly string[] },
): Promise<void> {
  await database.transaction('CREATE', (schema) => migrate(schema, project, heads));
  log.info('alembic.runtime.migration', 'Context impl MySQLImpl.');
  log.info('alembic.runtime.migration', 'Will assume non-transactional DDL.');
  await pause(process, takes);
}

/** The heads that `--expand` or `--contract` asks for, or all. */
export function chosenHeads({ line }: CommandContext, { heads }: ProjectDatabase): readonly string[] {
  return line.has('expand') ? heads.slice(0, 1) : line.has('contract') ? heads.slice(1) : heads;
}

/** `db sync`: makes what is missing; `takes` milliseconds. */
export function sync(project: ProjectDatabase, takes: number): Command {
  return {
    run: async (context) => {
      await upgrade(context, new Database(context, project), project, { takes });
    },
  };
}

/** `db version`: prints the revisions of a database. */
export function revisions(project: ProjectDatabase): Command {
  return {
    run: async (context) => {
      const found = await new Database(context, project).transaction('SELECT', revisionsOf);
      context.process.stdout(`${found.join(' ') || 'None'}\n`);
    },
  };
}

/** Says what is wrong; undefined when all is well. @throws PythonError */
export type Check = (context: CommandContext) => Promise<string | undefined>;

/** `upgrade check`: runs checks, each of which says what is wrong. 0: all is well, 2: a check has failed. */
export function upgradeCheck(checks: Readonly<Record<string, Check>>): Command {
  return {
    run: async (context) => {
      const rule = '+----------------------------------+';
      const lines = [rule, '| Upgrade Check Results', rule];
      let status = 0;
      for (const [name, check] of Object.entries(checks)) {
        const problem = await check(context);
        if (problem !== undefined) status = 2;
        const result = problem === undefined ? 'Success' : 'Failure';
        lines.push(`| Check: ${name}`, `| Result: ${result}`, `| Details: ${problem ?? 'None'}`, rule);
      }
      context.process.stdout(`${lines.join('\n')}\n`);
      return status;
    },
  };
}

/** The check that a database is at its heads. */
export function migrated(project: ProjectDatabase): Check {
  return async (context) => {
    const found = await new Database(context, project).transaction('SELECT', revisionsOf);
    return project.heads.every((head) => found.includes(head)) ? undefined : 'The database is not up to date.';
  };
}

/** Prints a line, and does nothing else. */
export function says(text: string, options: Pick<Command, 'flags' | 'values'> = {}): Command {
  return {
    ...options,
    run: ({ process }) => Promise.resolve(process.stdout(`${text}\n`)),
  };
}
