import { type Ran, run } from '../../kubernetes/clients/command.ts';
import { program } from '../kubernetes.ts';
import { prefix } from '../running-cloud.ts';
import { until } from '../until.ts';

const namespace = `${prefix}shares`;
const pod = 'client';
const environment = process.env as Record<string, string>;

/** Mounts a filesystem as a user of Ceph: $1 user, $2 monitors, $3 path, $4 where; the key is read. */
const mountScript = `set -eu
read -r key
mkdir -p "$4" /etc/ceph
printf '[global]\\nmon_host = %s\\n' "$2" > /etc/ceph/ceph.conf
printf '[client.%s]\\n\\tkey = %s\\n' "$1" "$key" > "/tmp/$1.keyring"
[ -e /dev/fuse ] || mknod /dev/fuse c 10 229
# It stays in the background, and must hold nothing of this command.
if ! timeout 30 ceph-fuse -n "client.$1" -k "/tmp/$1.keyring" --client_mountpoint "$3" "$4" > /tmp/fuse.log 2>&1 < /dev/null; then
  cat /tmp/fuse.log >&2
  exit 1
fi
`;

/** Where a share is, and who may mount it. */
export interface Mounted {
  /** As Manila says it: addresses of monitors, a colon, a path. */
  readonly location: string;
  readonly user: string;
  readonly key: string;
  /** The directory. */
  readonly at: string;
}

/**
 * A client of the network that may mount, which takes the device of FUSE and the capability to: a pod in a namespace of its own,
 * because no pod in that of Ceph may.
 */
export class Mounts {
  async start(): Promise<void> {
    await this.stop();
    const image = await program(
      ...(['kubectl', 'get', '-n', 'ceph', 'statefulset/ceph', '-o'] as const),
      'jsonpath={.spec.template.spec.containers[0].image}',
    );
    const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects(image) });
    const apply = () => run('kubectl', ['apply', '-f', '-'], { environment, stdin });
    await until({
      what: 'the pod that mounts to be made',
      seconds: 30,
      // A namespace has its service account a moment later.
      probe: async () => (await apply()).code === 0 || undefined,
      explain: async () => (await apply()).stderr,
    });
    await until({
      what: `the pod ${namespace}/${pod}`,
      seconds: 60,
      probe: async () =>
        (await program('kubectl', '-n', namespace, 'get', 'pod', pod, '-o', 'jsonpath={.status.phase}')) ===
          'Running' || undefined,
      explain: () => program('kubectl', '-n', namespace, 'describe', 'pod', pod),
    });
  }

  /** @throws Error with the words of ceph-fuse */
  async mount(share: Mounted): Promise<void> {
    const { code, stderr } = await this.tryMount(share);
    if (code !== 0) throw new Error(`${share.location} cannot be mounted: ${stderr}`);
  }

  async tryMount({ location, user, key, at }: Mounted): Promise<Ran> {
    const [, monitors = '', path = ''] = /^(.*?):(\/.*)$/.exec(location) ?? [];
    return await this.#run(['bash', '-c', mountScript, 'mount', user, monitors, path, at], `${key}\n`);
  }

  /** Runs a script of bash; what takes longer than 30 seconds fails. */
  async script(text: string): Promise<Ran> {
    return await this.#run(['timeout', '--kill-after=5', '30', 'bash', '-c', text]);
  }

  async stop(): Promise<void> {
    await program(
      'kubectl',
      'delete',
      'pod',
      '-n',
      namespace,
      pod,
      '--ignore-not-found',
      '--grace-period=0',
      '--force',
    );
    await program('kubectl', 'delete', 'namespace', namespace, '--ignore-not-found', '--timeout=50s');
  }

  async #run(command: readonly string[], stdin = ''): Promise<Ran> {
    return await run('kubectl', ['exec', '-i', '-n', namespace, pod, '--', ...command], { environment, stdin });
  }
}

function objects(image: string): object[] {
  const labels = { 'pod-security.kubernetes.io/enforce': 'privileged' };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: pod, namespace },
      spec: {
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: 'client',
            image,
            imagePullPolicy: 'IfNotPresent',
            command: ['dumb-init', '--single-child', '--', 'sleep', 'infinity'],
            securityContext: { privileged: true, runAsUser: 0 },
          },
        ],
      },
    },
  ];
}
