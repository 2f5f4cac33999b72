import { controlPlane, program } from '../kubernetes.ts';
import { until } from '../until.ts';

interface ControlPlane {
  readonly metadata: { readonly generation: number };
  readonly status: {
    readonly readyGeneration?: number;
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
  };
}

/** TLS of the control plane, or of one of its children, by the field of its spec; `kubectl` asks in its namespace. */
export async function serverTls(field?: 'mariadb' | 'rabbitmq' | 'ovnNetwork') {
  const { name, namespace } = (await controlPlane()).metadata;
  const kubectl = (...words: readonly string[]) => program('kubectl', '-n', namespace, ...words);
  /** Says whether services connect by TLS. Resolves when that is written. */
  const change = (enabled: boolean) => {
    const patch = JSON.stringify({
      spec: field === undefined ? { tls: { enabled } } : { [field]: { tls: { enabled } } },
    });
    return kubectl('patch', 'openstackcontrolplane', name, '--type', 'merge', '-p', patch);
  };
  /** The same. Resolves when the control plane is Ready with it. */
  const enable = async (enabled: boolean) => {
    await change(enabled);
    await until({
      what: `the control plane to be Ready with TLS${field === undefined ? '' : ` to ${field}`} ${enabled ? 'on' : 'off'}`,
      seconds: 1800,
      probe: async () => {
        const text = await kubectl('get', 'openstackcontrolplane', name, '-o', 'json');
        const { metadata, status } = JSON.parse(text) as ControlPlane;
        const ready = status.conditions.find(({ type }) => type === 'Ready')?.status;
        return (ready === 'True' && status.readyGeneration === metadata.generation) || undefined;
      },
      explain: () =>
        kubectl('get', 'openstackcontrolplane,mariadb,rabbitmq,ovnnetwork,keystone,nova,neutron,glance,placement'),
    });
  };
  return { name, kubectl, change, enable };
}
