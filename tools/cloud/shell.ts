import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { writeHosts } from './hosts.ts';
import { writeOpenstackProgram } from './openstack-client.ts';
import { installPackages } from './packages.ts';
import { kubernetesPrograms, type Place, root } from './place.ts';
import { StepError } from './step.ts';

/**
 * Runs a command (or a shell) that reaches the cloud by its names: those of its Services, as its pods do, and those of
 * its Gateways. It finds kubectl, openstack, this Node.js and the repository's programs first in its PATH. Its mount
 * namespace has a resolv.conf and hosts of its own, so that the machine's stay as they are. Gives the command's exit
 * code; 0 for a shell, which ends with that of whatever was tried last in it.
 */
export async function shell(place: Place, command: readonly string[]): Promise<number> {
  if (!existsSync(place.openrc)) throw new StepError('No cloud runs here: make cloud brings one up.');
  await writeHosts(place);
  await prepareOpenstack(place);
  const environment = {
    KUBECONFIG: place.kubeconfig,
    CLOUD_NODE_ENTER: `${join(root, 'tools/kubernetes/enter')} --dir ${place.kubernetes}`,
    CLOUD_UP: [process.execPath, join(root, 'tools/cloud/main.ts'), 'up', '--no-server', ...place.options].join(' '),
    OS_CLIENT_CONFIG_FILE: place.clouds,
    PATH: [
      place.programs,
      kubernetesPrograms(),
      dirname(process.execPath),
      join(root, 'bin'),
      join(root, 'node_modules/.bin'),
      process.env['PATH'] ?? '',
    ].join(delimiter),
  };
  const script = `mount --bind "$RESOLVER" /etc/resolv.conf && mount --bind "$CLOUD_HOSTS" /etc/hosts && . "$OPENRC" || exit; "$@"`;
  const wanted = command.length > 0 ? command : interactive(place, environment);
  const end = command.length > 0 ? '' : '; exit 0';
  const child = spawn('unshare', ['--mount', 'sh', '-c', script + end, 'sh', ...wanted], {
    stdio: 'inherit',
    env: { ...process.env, RESOLVER: place.resolver, CLOUD_HOSTS: place.hosts, OPENRC: place.openrc, ...environment },
  });
  return await new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new StepError(`unshare: ${error.message}`)));
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** A shell without `openstack` is better than none. */
async function prepareOpenstack(place: Place): Promise<void> {
  try {
    await installPackages(place, { python3: 'python3', pip3: 'python3-pip' });
    writeOpenstackProgram(place);
  } catch (error) {
    process.stderr.write(`openstack is not there in this shell: ${(error as Error).message}\n`);
  }
}

/** The user's shell. Bash is told the variables once more after its own start file, which may put others first. */
function interactive(place: Place, environment: Readonly<Record<string, string>>): string[] {
  const program = process.env['SHELL'] ?? '/bin/bash';
  if (!program.endsWith('/bash')) return [program];
  const lines = Object.entries(environment).map(([name, value]) => `export ${name}='${value}'`);
  const start = ['[ ! -f ~/.bashrc ] || . ~/.bashrc', ...lines, `. '${place.openrc}'`, `PS1="(cloud) $PS1"`, ''];
  writeFileSync(place.startFile, start.join('\n'));
  return [program, '--rcfile', place.startFile];
}
