import { run } from '../../kubernetes/clients/command.ts';
import { program } from '../kubernetes.ts';
import { until } from '../until.ts';

const namespace = 'ceph';

/** How a command in a client's pod ended, and all that it wrote. */
export interface Ended {
  readonly succeeded: boolean;
  readonly text: string;
}

/** What the program ceph prints as JSON, as the administrator; null where it prints nothing. @throws Error with its words */
export async function ceph<T>(...argv: readonly string[]): Promise<T> {
  const inside = ['exec', '-n', namespace, 'statefulset/ceph', '-c', 'mon', '--', 'ceph', ...argv, '-f', 'json'];
  return JSON.parse((await program('kubectl', ...inside)) || 'null') as T;
}

/** A pod of the network, which has of Ceph what its clients are given: the ConfigMap and the keyring of one user. */
export class Client {
  readonly user: string;
  readonly #pod: string;

  constructor(user: string) {
    this.user = user;
    this.#pod = `client-${user}`;
  }

  /** Starts the pod; one of an earlier run goes first. */
  async start(): Promise<void> {
    await this.stop();
    const image = await program(
      ...(['kubectl', 'get', '-n', namespace, 'statefulset/ceph', '-o'] as const),
      'jsonpath={.spec.template.spec.containers[0].image}',
    );
    const pod = JSON.stringify(manifest(this.#pod, this.user, image));
    const environment = process.env as Record<string, string>;
    const { code, stderr } = await run('kubectl', ['apply', '-f', '-'], { environment, stdin: pod });
    if (code !== 0) throw new Error(`the pod of ${this.user} cannot be made: ${stderr}`);
    await until({
      what: `the pod ${this.#pod}`,
      seconds: 60,
      probe: async () => (await this.#phase()) === 'Running' || undefined,
      explain: () => program('kubectl', 'describe', 'pod', '-n', namespace, this.#pod),
    });
  }

  /** Runs a program of Ceph as the user. */
  async run(name: 'ceph' | 'rbd' | 'rados', ...argv: readonly string[]): Promise<Ended> {
    const inside = ['exec', '-n', namespace, this.#pod, '--', name, '--id', this.user, ...argv];
    const environment = process.env as Record<string, string>;
    const { code, stdout, stderr } = await run('kubectl', inside, { environment });
    return { succeeded: code === 0, text: stdout + stderr };
  }

  async stop(): Promise<void> {
    await program('kubectl', 'delete', 'pod', '-n', namespace, this.#pod, '--ignore-not-found', '--grace-period=0');
  }

  async #phase(): Promise<string> {
    return await program('kubectl', 'get', 'pod', '-n', namespace, this.#pod, '-o', 'jsonpath={.status.phase}');
  }
}

function manifest(name: string, user: string, image: string): object {
  const sources = [{ configMap: { name: 'ceph' } }, { secret: { name: `ceph-client-${user}` } }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      automountServiceAccountToken: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65_532,
        fsGroup: 65_532,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: 'client',
          image,
          imagePullPolicy: 'IfNotPresent',
          command: ['dumb-init', '--single-child', '--', 'sleep', 'infinity'],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          volumeMounts: [{ name: 'ceph', mountPath: '/etc/ceph' }],
        },
      ],
      volumes: [{ name: 'ceph', projected: { defaultMode: 0o440, sources } }],
    },
  };
}
