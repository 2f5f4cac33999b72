import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { member } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { prefix, type User } from '../running-cloud.ts';
import { until } from '../until.ts';
import { optionalService } from './optional-service.ts';

interface Published {
  readonly id: string;
  readonly status: string;
}

/** What Designate answers, and with which status. */
async function asked(user: User, method: 'get' | 'post' | 'delete', path: string, json?: object) {
  const options = { raise_exc: false, ...(json === undefined ? {} : { json }) };
  const { status, text } = await user.call<{ status: number; text: string }>(`dns.${method}`, path, options);
  return { status, text, body: (text.startsWith('{') ? JSON.parse(text) : {}) as Partial<Published> };
}

/** A question for addresses of a name, as DNS sends it. */
function question(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '');
  const encoded = labels.flatMap((label) => [Buffer.of(label.length), Buffer.from(label)]);
  const header = Buffer.of(0x4f, 0x53, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0);
  return Buffer.concat([header, ...encoded, Buffer.of(0, 0, 1, 0, 1)]);
}

/** The last four bytes of an answer that has one: an address. */
const addressIn = (answer: Buffer): string => [...answer.subarray(-4)].join('.');

async function overTcp(server: string, name: string): Promise<string> {
  const socket = connect({ host: server, port: 53, timeout: 5000 });
  try {
    const sent = question(name);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(sent.length);
    socket.end(Buffer.concat([length, sent]));
    return addressIn(Buffer.concat(await socket.toArray()));
  } finally {
    socket.destroy();
  }
}

async function overUdp(server: string, name: string): Promise<string> {
  const socket = createSocket('udp4');
  try {
    socket.send(question(name), 53, server);
    const [answer] = (await once(socket, 'message', { signal: AbortSignal.timeout(5000) })) as [Buffer];
    return addressIn(answer);
  } finally {
    socket.close();
  }
}

test('a zone and a record are published by BIND, over UDP and TCP, and outlive its pod and that Designate was disabled', async () => {
  const designate = optionalService('designate', 'designates');
  await designate({ enabled: true });
  const user = await member();
  const { metadata } = await controlPlane();
  const bind = `${metadata.name}-designate-bind`;
  const server = () =>
    program('kubectl', '-n', metadata.namespace, 'get', 'service', bind, '-o', 'jsonpath={.spec.clusterIP}');
  const name = `${prefix}${randomUUID().slice(0, 8)}.example.com.`;
  const active = (path: string) =>
    until({
      what: `${path} to be ACTIVE`,
      seconds: 300,
      probe: async () => {
        // One in ERROR is tried again every two minutes.
        const { body } = await asked(user, 'get', path);
        return body.status === 'ACTIVE' || undefined;
      },
      explain: async () => (await asked(user, 'get', path)).text,
    });
  const made = async (path: string, body: object) => {
    const {
      status,
      body: { id },
      text,
    } = await asked(user, 'post', path, body);
    expect({ status, text }).toMatchObject({ status: expect.toSatisfy((code: number) => [201, 202].includes(code)) });
    await active(`${path}/${id}`);
    return `${path}/${id}`;
  };
  const zone = await made('/zones', { name, email: 'hostmaster@example.com' });
  await made(`${zone}/recordsets`, { name: `www.${name}`, type: 'A', records: ['192.0.2.7'] });
  const answers = async (host: string, address: string) => {
    const at = await server();
    await until({
      what: `${host} to be answered by ${at} over UDP and TCP`,
      seconds: 120,
      probe: async () => {
        const found = await Promise.all([overUdp(at, host), overTcp(at, host)]).catch((error: unknown) => [
          String(error),
        ]);
        return found.every((one) => one === address) || undefined;
      },
    });
    const resolver = new Resolver();
    resolver.setServers([at]);
    expect(await resolver.resolve4(host)).toEqual([address]);
  };
  await answers(`www.${name}`, '192.0.2.7');
  await program('kubectl', '-n', metadata.namespace, 'delete', 'pod', `${bind}-0`);
  await answers(`www.${name}`, '192.0.2.7');
  await designate({ enabled: false }, 'has 1 zone');
  await designate({ enabled: true });
  await answers(`www.${name}`, '192.0.2.7');
  await made(`${zone}/recordsets`, { name: `mail.${name}`, type: 'A', records: ['192.0.2.8'] });
  await answers(`mail.${name}`, '192.0.2.8');
  expect((await asked(user, 'delete', zone)).status).toBe(202);
  await until({
    what: 'the zone to be gone',
    seconds: 180,
    probe: async () => (await asked(user, 'get', zone)).status === 404 || undefined,
  });
});
