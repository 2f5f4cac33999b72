import { program } from '@openstack-operator/cli';
import { usage } from '@openstack-operator/operator';
import type { GeneratedFile } from './generated-file.ts';
import { page } from './markdown.ts';

/** The reference of both command lines: what `--help` prints. */
export function commandLineReference(): readonly GeneratedFile[] {
  const block = (help: string) => `\`\`\`text\n${help.trimEnd()}\n\`\`\``;
  const subcommands = program.commands.flatMap((command) => [
    `## kubectl openstack ${command.name()}`,
    block(command.configureHelp({ helpWidth: 120 }).helpInformation()),
  ]);
  return [
    page('command-line.md', 'Command line', [
      "What `--help` prints for `kubectl openstack`, the tool for users, and for `openstack-operator`, the program in the operator's pod.",
      '`kubectl openstack` is `bin/kubectl-openstack`. `kubectl` finds it when `bin` is on `PATH`.',
      '## kubectl openstack',
      block(program.configureHelp({ helpWidth: 120 }).helpInformation()),
      ...subcommands,
      '## openstack-operator',
      block(usage),
    ]),
  ];
}
