import { type ExecFileException, execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** What to do where a program is missing. */
const remedies: Readonly<Record<string, string>> = {
  kubectl: 'run make test-cloud, or the suite in the shell of the cloud (make cloud-shell)',
  ethtool: 'apt-get install ethtool',
  ip: 'apt-get install iproute2',
  ping: 'apt-get install iputils-ping',
};
const execute = promisify(execFile);

/** What a program prints. @throws Error with its words when it fails */
export async function program(name: string, ...argv: readonly string[]): Promise<string> {
  try {
    return (await execute(name, argv, { timeout: 60_000, maxBuffer: 2 ** 26 })).stdout.trim();
  } catch (error) {
    const { stderr = '', message, code, killed } = error as ExecFileException;
    if (code === 'ENOENT')
      throw new Error(`${name} is not on PATH: ${remedies[name] ?? 'install it'}`, { cause: error });
    const words = killed === true ? `no end within a minute. ${stderr}` : stderr || message;
    throw new Error(`${name} ${argv.join(' ')}: ${words.trim()}`, { cause: error });
  }
}

/** The control plane that carries the cloud. */
export interface ControlPlane {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: unknown;
  readonly status: {
    readonly conditions: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime: string;
    }[];
  };
}

/** The first control plane of the cluster. @throws Error when there is none */
export async function controlPlane(): Promise<ControlPlane> {
  const text = await program('kubectl', 'get', 'openstackcontrolplanes', '--all-namespaces', '-o', 'json');
  const [first] = (JSON.parse(text) as { items: ControlPlane[] }).items;
  if (first === undefined) throw new Error('the cluster has no OpenStackControlPlane');
  return first;
}
