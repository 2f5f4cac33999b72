import { X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubectl } from '../cloud/kubectl.ts';
import { type Place, root } from '../cloud/place.ts';
import { run, StepError, say, step } from '../cloud/step.ts';
import { buildPrograms, versions } from './programs.ts';

const namespace = 'gateway';
const system = 'envoy-gateway-system';
const groups = ['gateway.envoyproxy.io', 'gateway.networking.k8s.io', 'gateway.networking.x-k8s.io'];

/** Installs Gateway API, Envoy Gateway and a Gateway; returns when it carries requests. @throws StepError */
export async function install(place: Place, domain: string): Promise<void> {
  requireCluster(place);
  const log = place.log('gateway');
  const { archives, definitions } = await step('Envoy Gateway', () => buildPrograms(log));
  await step('images of the gateway', () =>
    run(join(root, 'tools/kubernetes/load'), ['--dir', place.kubernetes, ...archives], { log }),
  );
  await step('Gateway API', async () => {
    await kubectl(place, ['apply', '--server-side', '--recursive', '-f', definitions]);
    await kubectl(place, ['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all']);
    const text = readFileSync(join(import.meta.dirname, 'implementation.yaml'), 'utf8');
    const named = text.replaceAll('@gateway@', versions.gateway).replaceAll('@envoy@', versions.envoy);
    await kubectl(place, ['apply', '--server-side', '-f', '-'], { input: named });
    await kubectl(place, ['-n', system, 'rollout', 'status', 'deployment/envoy-gateway', '--timeout=180s']);
  });
  await step('Gateway openstack', async () => {
    if (!(await hasCertificate(place, domain))) {
      const made = JSON.stringify(namespaceAnd(await certificate(domain, log)));
      await kubectl(place, ['apply', '--server-side', '--force-conflicts', '-f', '-'], { input: made });
    }
    await kubectl(place, ['apply', '--server-side', '-f', join(import.meta.dirname, 'gateway.yaml')]);
    await kubectl(place, [
      '-n',
      namespace,
      'wait',
      '--for=condition=Programmed',
      '--timeout=180s',
      'gateway/openstack',
    ]);
  });
  const jsonpath = 'jsonpath={.status.addresses[0].value}';
  const address = await kubectl(place, ['-n', namespace, 'get', 'gateway', 'openstack', '-o', jsonpath]);
  say(`Gateway ${namespace}/openstack is at ${address}, for *.${domain}`);
}

/** Removes all of it, Gateway API included; the proxies first, which the controller takes away itself. */
export async function remove(place: Place): Promise<void> {
  requireCluster(place);
  await step('the gateway goes', async () => {
    const served = await kubectl(place, ['api-resources', '--api-group=gateway.networking.k8s.io', '-o', 'name']);
    if (served !== '') {
      await kubectl(place, ['delete', 'httproutes,gateways', '--all', '--all-namespaces', '--timeout=60s']);
      await kubectl(place, ['delete', 'gatewayclass', 'envoy', '--ignore-not-found', '--timeout=60s']);
    }
    const names = (await kubectl(place, ['get', 'crd', '-o', 'name'])).split('\n');
    const ours = names.filter((name) => groups.some((group) => name.endsWith(`.${group}`)));
    await kubectl(place, ['delete', 'namespace', namespace, system, '--ignore-not-found', '--timeout=120s']);
    await kubectl(place, ['delete', 'clusterrolebinding', 'envoy-gateway', '--ignore-not-found']);
    if (ours.length > 0) await kubectl(place, ['delete', ...ours, '--timeout=120s']);
  });
}

function requireCluster({ kubeconfig, kubernetes }: Place): void {
  if (!existsSync(kubeconfig))
    throw new StepError(`no node runs in ${kubernetes}: make cloud brings one up, or say with --dir where it is`);
}

/** Clients that were told of a certificate go on with it. */
async function hasCertificate(place: Place, domain: string): Promise<boolean> {
  const path = 'jsonpath={.data.tls\\.crt}';
  const get = ['-n', namespace, 'get', 'secret', 'openstack-tls', '--ignore-not-found', '-o', path];
  const pem = Buffer.from(await kubectl(place, get), 'base64');
  return pem.length > 0 && new X509Certificate(pem).subjectAltName === `DNS:*.${domain}`;
}

/** Certificate and key for the names of a cloud, signed by itself. */
async function certificate(domain: string, log: string): Promise<{ certificate: string; key: string }> {
  const work = mkdtempSync(join(tmpdir(), 'gateway-'));
  try {
    const [key, made] = [join(work, 'key'), join(work, 'certificate')];
    const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -batch'.split(' ');
    const names = ['-subj', `/CN=${domain}`, '-addext', `subjectAltName=DNS:*.${domain}`];
    await run('openssl', [...words, ...names, '-keyout', key, '-out', made], { log });
    return { certificate: readFileSync(made, 'utf8'), key: readFileSync(key, 'utf8') };
  } finally {
    rmSync(work, { recursive: true });
  }
}

function namespaceAnd({ certificate, key }: { certificate: string; key: string }): object {
  const items = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'openstack-tls', namespace },
      type: 'kubernetes.io/tls',
      stringData: { 'tls.crt': certificate, 'tls.key': key },
    },
  ];
  return { apiVersion: 'v1', kind: 'List', items };
}
