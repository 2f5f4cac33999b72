import { CommandError } from './command-error.ts';
import { program } from './program.ts';

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`kubectl openstack: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof CommandError ? error.exitCode : 1;
}
