import type { Client } from '@openstack-operator/kube';
import {
  answerLimit,
  type HttpAnswer,
  type HttpCall,
  runCount,
  runEmpty,
  runFetch,
  runForget,
  runPublish,
  runRecords,
} from '@openstack-operator/operator';
import { connectTls } from '@openstack-operator/processes';
import { type HttpReply, type Image, type Process, SystemError } from '@openstack-operator/sandbox';

/** The operator's own image on the sandbox: its Jobs run our real code, over the sandbox's network. */
export const operatorImage = (client: () => Client): Image => ({
  matches: (reference) => /(^|\/)openstack-operator(:[^/]*)?(@[^/]*)?$/.test(reference),
  user: 65532,
  programs: {
    'openstack-operator': async (process) => {
      const [, command, ...args] = process.argv;
      const world = {
        http: (call: HttpCall) => overNetwork(process, call),
        clock: process.clock,
        print: (line: string) => process.stdout(`${line}\n`),
        writeMessage: (text: string) => process.files.write('/dev/termination-log', text),
        signal: process.signal,
      };
      const artifacts = {
        connect: () => {
          const namespace = process.files.read('/var/run/secrets/kubernetes.io/serviceaccount/namespace');
          return Promise.resolve({ client: client(), namespace });
        },
        read: (path: string) => Buffer.from(process.files.read(path)),
        write: (path: string, content: Uint8Array) => process.files.write(path, Buffer.from(content).toString()),
        print: world.print,
      };
      switch (command) {
        case 'records':
          return await runRecords(args, { ...world, read: (path) => process.files.read(path) });
        case 'count':
          return await runCount(args, { ...world, env: process.env });
        case 'empty':
          return await runEmpty(args, { ...world, env: process.env });
        case 'forget':
          return await runForget(args, { ...world, env: process.env });
        case 'publish':
          return await runPublish(args, artifacts);
        case 'fetch':
          return await runFetch(args, artifacts);
        case undefined:
        default:
          process.stderr(`openstack-operator: no command ${JSON.stringify(command)} on the sandbox\n`);
          return 2;
      }
    },
  },
});

/** One HTTP request of a process over the sandbox's network. */
export async function overNetwork(
  { network, clock }: Process,
  { method, url, headers, body = '', ca }: HttpCall,
): Promise<HttpAnswer> {
  const { protocol, hostname: host, port, pathname, search } = new URL(url);
  const late = Promise.withResolvers<never>();
  late.promise.catch(() => undefined);
  const timer = clock.after(answerLimit, () =>
    late.reject(new Error(`${method} ${url}: no answer within ${answerLimit / 1000} s`)),
  );
  // A connection that nobody answers is given up by this limit, not by the kernel's.
  const connecting =
    protocol === 'https:'
      ? connectTls(
          network,
          { host, port: Number(port || 443), protocol: 'https' },
          { trusted: ca, host, now: clock.now() },
        )
      : network.connect(host, Number(port || 80), 'http');
  const connected = connecting.catch((error: unknown) => {
    if (error instanceof SystemError && error.code === 'ETIMEDOUT') return late.promise;
    throw error;
  });
  const connection = await Promise.race([connected, late.promise]).finally(() => timer.cancel());
  try {
    const message = { method, path: `${pathname}${search}`, headers, body };
    const reply = (await connection.call(message)) as HttpReply;
    const lower = Object.entries(reply.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
    return {
      status: reply.status,
      headers: Object.fromEntries(lower) as Record<string, string>,
      body: reply.body ?? '',
    };
  } finally {
    connection.close();
  }
}
