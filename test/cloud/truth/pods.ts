import { spawn } from 'node:child_process';
import { program } from '../kubernetes.ts';

/** A container of the cloud. */
export interface Container {
  readonly namespace: string;
  readonly pod: string;
  readonly name: string;
  readonly service: string;
  readonly component: string;
}

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly namespace: string; readonly labels: Record<string, string> };
    readonly spec: { readonly containers: readonly { readonly name: string }[] };
    readonly status: { readonly phase: string };
  }[];
}

/** The containers of every running pod of the cloud, or (`ended`) of every pod whose Job is done. */
export async function containers(phase: 'Running' | 'Succeeded' = 'Running'): Promise<Container[]> {
  const selector = 'app.kubernetes.io/managed-by=openstack-operator';
  const text = await program('kubectl', 'get', 'pods', '--all-namespaces', '-l', selector, '-o', 'json');
  return (JSON.parse(text) as PodList).items
    .filter(({ status }) => status.phase === phase)
    .flatMap(({ metadata, spec }) =>
      spec.containers.map(({ name }) => ({
        namespace: metadata.namespace,
        pod: metadata.name,
        name,
        service: metadata.labels['app.kubernetes.io/name'] ?? '',
        component: metadata.labels['app.kubernetes.io/component'] ?? '',
      })),
    );
}

/** What a command in a container ends with. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in a container, with that standard input. */
export async function execute(
  { namespace, pod, name }: Container,
  command: readonly string[],
  input = '',
): Promise<Ended> {
  const child = spawn('kubectl', ['exec', '-i', '-n', namespace, pod, '-c', name, '--', ...command]);
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()));
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return { code, ...said };
}

/** What a container has said since it began. */
export async function logs({ namespace, pod, name }: Container): Promise<string> {
  return await program('kubectl', 'logs', '-n', namespace, pod, '-c', name);
}

/** Every value of every Secret of these namespaces that nobody could guess, by `namespace/name/key`. */
export async function secretValues(): Promise<Map<string, string>> {
  const text = await program('kubectl', 'get', 'secrets', '--all-namespaces', '-o', 'json');
  const { items } = JSON.parse(text) as {
    items: { metadata: { name: string; namespace: string }; data?: Record<string, string> }[];
  };
  return new Map(
    items.flatMap(({ metadata, data = {} }) =>
      Object.entries(data)
        .map(
          ([key, value]) =>
            [`${metadata.namespace}/${metadata.name}/${key}`, Buffer.from(value, 'base64').toString()] as const,
        )
        .filter(([, value]) => /^[!-~]{16,128}$/.test(value) && !value.includes('://')),
    ),
  );
}
