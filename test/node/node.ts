import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Ran, run } from '../kubernetes/clients/command.ts';

/** Addresses that no other node of this machine takes unless somebody asked for them. */
export const instance = 9;

/** Static: it needs no library in its image. The suite's set-up installs it. */
const busybox = '/bin/busybox';

/** Asks for names: wget of Debian's busybox-static (1:1.35.0-4+deb12u1+b1) ends by SIGSEGV when it does. */
const getent = '/usr/bin/getent';

/** Why no node can be tried here; nothing where one can. */
export const reasonToSkip = [
  process.platform !== 'linux' && `a node needs Linux, this is ${process.platform}`,
  process.getuid?.() !== 0 && 'a node needs root: run it as root',
].find(Boolean);

/** tools/kubernetes/COMMAND with arguments, as a user of it calls it. */
export function tool(command: string, argv: readonly string[], until?: (stdout: string) => boolean): Promise<Ran> {
  const environment = process.env as Record<string, string>;
  return run(`tools/kubernetes/${command}`, argv, { environment, limit: 180, ...(until && { until }) });
}

/** The same, for its output. @throws Error when it ends badly */
export async function mustTool(command: string, ...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await tool(command, argv);
  if (code !== 0)
    throw new Error(`tools/kubernetes/${command} ${argv.join(' ')}: exit code ${code}\n${stderr}${stdout}`);
  return stdout;
}

/** A directory for a node, and the commands with it. */
export function createNode() {
  const root = mkdtempSync(join(tmpdir(), 'node-'));
  const directory = join(root, 'node');
  const kubeconfig = join(directory, 'kubeconfig');
  const at = ['--dir', directory];
  const up = ['--instance', String(instance), ...at];
  const kubectlOf = async () => join((await mustTool('build', '--check')).trim(), 'kubectl');
  const environment = () => ({
    PATH: process.env['PATH'] ?? '',
    KUBECONFIG: kubeconfig,
    KUBECACHEDIR: join(root, 'cache'),
    HOME: root,
  });
  return {
    directory,
    upArguments: up,
    up: () => mustTool('up', ...up),
    down: (...options: string[]) => mustTool('down', ...at, ...options),
    tryUp: (until?: (stdout: string) => boolean) => tool('up', up, until),
    status: () => mustTool('status', ...at),
    enter: (...argv: string[]) => mustTool('enter', ...at, ...argv),
    load: (...archives: string[]) => mustTool('load', ...at, ...archives),
    /** The pid of its PID 1 on the machine. */
    pid: () => Number(readFileSync(join(directory, 'state/pid'), 'utf8')),
    async tryKubectl(...argv: string[]): Promise<Ran> {
      return run(await kubectlOf(), argv, { environment: environment() });
    },
    /** What kubectl prints. @throws Error when it ends badly */
    async kubectl(...argv: string[]): Promise<string> {
      const { code, stdout, stderr } = await this.tryKubectl(...argv);
      if (code !== 0) throw new Error(`kubectl ${argv.join(' ')}: exit code ${code}\n${stderr}${stdout}`);
      return stdout;
    },
    /** Path of a file with a text. */
    file(text: string): string {
      const path = join(root, 'file');
      writeFileSync(path, text);
      return path;
    },
    /** Writes an image archive whose programs are busybox's. */
    async busyboxArchive(reference: string): Promise<string> {
      const image = join(root, 'busybox');
      if (!existsSync(image)) {
        mkdirSync(join(image, 'bin'), { recursive: true });
        mkdirSync(join(image, 'tmp'), { mode: 0o1777 });
        copyFileSync(busybox, join(image, 'bin/busybox'));
        const libraries = execFileSync('ldd', [getent], { encoding: 'utf8' }).match(/\/\S+(?= \(0x)/g) ?? [];
        for (const file of [getent, ...libraries]) {
          mkdirSync(dirname(join(image, file)), { recursive: true });
          copyFileSync(file, join(image, file));
        }
        for (const name of [
          'sh',
          'cat',
          'date',
          'grep',
          'httpd',
          'ls',
          'mkdir',
          'mount',
          'nc',
          'sleep',
          'tail',
          'test',
          'touch',
          'wget',
          'hostname',
          'id',
          'nslookup',
          'ps',
        ]) {
          symlinkSync('busybox', join(image, 'bin', name));
        }
      }
      const archive = join(root, `${reference.replaceAll(/\W/g, '-')}.tar`);
      await mustTool('image', reference, image, archive);
      return archive;
    },
    async remove() {
      await tool('down', [...at, '--purge']);
      rmSync(root, { recursive: true, force: true });
    },
  };
}
export type Node = ReturnType<typeof createNode>;
