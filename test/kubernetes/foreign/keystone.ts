import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { overNetwork } from '@openstack-operator/cli';
import { type KubeObject, Pod } from '@openstack-operator/kube';
import type { Image, Process } from '@openstack-operator/sandbox';
import { identityOnly, readyCloud } from '../../sandbox/rollout/cloud.ts';

/** The Keystone of an embedded cloud, for programs of this machine. */
export interface Keystone {
  /** URL of an HTTP proxy into the network of that cloud. */
  readonly proxy: string;
  /** A clouds.yaml with the cloud `embedded`, for its administrator. */
  readonly clouds: string;
  /** `METHOD path: status` of every request so far. */
  readonly requests: readonly string[];
  stop(): Promise<void>;
}

/** Brings up the smallest cloud that has one. Its time stands still between requests. */
export async function startKeystone(): Promise<Keystone> {
  const inside = Promise.withResolvers<Process>();
  const { cloud } = await readyCloud({ spec: identityOnly, images: [visitor(inside.resolve)] });
  await cloud.settle(cloud.rehearsal.sandbox.client().create(Pod, visitorPod as Pod));
  const pod = await cloud.settle(inside.promise);

  const requests: string[] = [];
  let before: Promise<unknown> = Promise.resolve();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = 'GET', url = '/', headers } = request;
    const named = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
    const call = { method, url, headers: Object.fromEntries(named), body: Buffer.concat(chunks).toString() };
    // One at a time: only one of them can move the cloud's clock.
    const answered = before.then(() => cloud.settle(overNetwork(pod, call)));
    before = answered.catch(() => undefined);
    const { status, headers: given, body } = await answered;
    requests.push(`${method} ${new URL(url).pathname}: ${status}`);
    response.writeHead(status, given).end(body);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(502).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const password = (cloud.get('Secret', 'my-cloud-keystone-admin-password')?.['data'] ?? {}) as { password?: string };
  return {
    proxy: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clouds: JSON.stringify({
      clouds: {
        embedded: {
          auth: {
            auth_url: 'http://my-cloud-keystone-api.openstack.svc:5000/v3',
            username: 'admin',
            password: Buffer.from(password.password ?? '', 'base64').toString(),
            project_name: 'admin',
            user_domain_name: 'Default',
            project_domain_name: 'Default',
          },
          region_name: 'RegionOne',
          endpoint_type: 'internal',
        },
      },
    }),
    requests,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      cloud.rehearsal.stop();
    },
  };
}

/** Runs until it is ended, and lends what it sees of the network. */
function visitor(lend: (process: Process) => void): Image {
  return {
    matches: (reference) => reference === 'example.com/visitor:1',
    entrypoint: ['visit'],
    programs: {
      async visit(process) {
        lend(process);
        await new Promise<void>((resolve) => process.signal.addEventListener('abort', () => resolve(), { once: true }));
        return 0;
      },
    },
  };
}

const visitorPod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name: 'visitor' },
  spec: { containers: [{ name: 'visitor', image: 'example.com/visitor:1' }] },
};
