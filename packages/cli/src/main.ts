import { constants } from 'node:os';
import { CommandError } from './command-error.ts';
import { program } from './program.ts';

for (const [name, stream] of [
  ['standard output', process.stdout],
  ['standard error', process.stderr],
] as const) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // Who reads has enough: as a shell has it of a program that SIGPIPE ends. Node ignores the signal.
    if (error.code === 'EPIPE') process.exit(128 + constants.signals.SIGPIPE);
    process.stderr.write(`kubectl openstack: ${name} cannot be written: ${error.message}\n`);
    process.exit(2);
  });
}

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`kubectl openstack: ${error instanceof Error ? error.message : String(error)}\n`);
  // A sandbox, or a connection, that a failed command leaves behind would keep the process.
  process.exit(error instanceof CommandError ? error.exitCode : 2);
}
