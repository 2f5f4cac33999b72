import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { gatewayNames, type Resource } from '../../../tools/cloud/hosts.ts';
import { program } from '../kubernetes.ts';
import { until } from '../until.ts';

/** The Gateway of tools/gateway. */
export const gatewayRef = { name: 'openstack', namespace: 'gateway' };

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
}

export interface Judged {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export async function objects<T>(kinds: string): Promise<T[]> {
  return (JSON.parse(await program('kubectl', 'get', kinds, '--all-namespaces', '-o', 'json')) as { items: T[] }).items;
}

export function conditionOf(object: Judged | undefined, type: string): Condition | undefined {
  return object?.status?.conditions?.find((condition) => condition.type === type);
}

/** Waits until the control plane is Ready as it is now. */
export async function ready(): Promise<void> {
  const plane = async () => (await objects<Judged>('openstackcontrolplanes'))[0];
  await until({
    what: 'the control plane to be Ready',
    seconds: 300,
    probe: async () => {
      const object = await plane();
      const condition = conditionOf(object, 'Ready');
      return condition?.status === 'True' && condition.observedGeneration === object?.metadata.generation
        ? true
        : undefined;
    },
    explain: async () => conditionOf(await plane(), 'Ready')?.message ?? 'it says nothing',
  });
}

/** Lets node agents of an older revision be replaced: nova-compute tells users where consoles are. */
export async function replaceNodeAgents(): Promise<void> {
  const annotate = (value: string) =>
    program('kubectl', 'annotate', 'openstackcontrolplanes', '--all', '--all-namespaces', '--overwrite', value);
  await annotate('openstack.k8s.io/roll-node-agents=true');
  interface DaemonSet {
    readonly metadata: { readonly name: string; readonly generation: number };
    readonly status: Readonly<Record<string, number | undefined>>;
  }
  const old = async () =>
    (await objects<DaemonSet>('daemonsets')).filter(({ metadata, status }) => {
      const wanted = status['desiredNumberScheduled'];
      const now = [status['updatedNumberScheduled'] ?? 0, status['numberReady'] ?? 0];
      return status['observedGeneration'] !== metadata.generation || now.some((count) => count !== wanted);
    });
  await until({
    what: 'the node agents to be new',
    seconds: 300,
    probe: async () => ((await old()).length === 0 ? true : undefined),
    explain: async () => (await old()).map(({ metadata }) => metadata.name).join(', '),
  });
  await annotate('openstack.k8s.io/roll-node-agents-');
}

/** The certificate that the Gateway shows, and the domain that it is for. */
export async function gatewayCertificate(): Promise<{ pem: string; domain: string }> {
  const path = 'jsonpath={.data.tls\\.crt}';
  const data = await program('kubectl', 'get', 'secret', '-n', gatewayRef.namespace, 'openstack-tls', '-o', path);
  const pem = Buffer.from(data, 'base64').toString();
  const [, domain] = /^DNS:\*\.(.+)$/.exec(new X509Certificate(pem).subjectAltName ?? '') ?? [];
  if (domain === undefined)
    throw new Error('the certificate of the Gateway is for no domain: node tools/gateway/main.ts up');
  return { pem, domain };
}

/** Lets this mount namespace find the names of the routes, as DNS would. */
export async function nameGateways(): Promise<void> {
  const path = process.env['CLOUD_HOSTS'];
  if (path === undefined) throw new Error('run it in the shell of the cloud: make cloud-shell');
  const machine = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.includes(marker));
  const names = gatewayNames(await objects<Resource>('httproutes,gateways')).map((line) => `${line} ${marker}`);
  writeFileSync(path, [...machine, ...names, ''].join('\n'));
}
const marker = '# a Gateway';

/** The cloud of OS_CLIENT_CONFIG_FILE as somebody outside is told of it: at its public name, by its certificate. */
export function writePublicCloud(directory: string, domain: string, certificate: string): string {
  const { clouds } = parse(readFileSync(process.env['OS_CLIENT_CONFIG_FILE'] ?? '', 'utf8')) as {
    clouds: Record<string, { auth: object }>;
  };
  const outside = Object.entries(clouds).map(([name, cloud]) => [
    name,
    {
      ...cloud,
      interface: 'public',
      cacert: certificate,
      auth: { ...cloud.auth, auth_url: `https://keystone.${domain}/v3` },
    },
  ]);
  const path = join(directory, 'clouds.yaml');
  writeFileSync(path, stringify({ clouds: Object.fromEntries(outside) }), { mode: 0o600 });
  return path;
}
