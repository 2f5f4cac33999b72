import type { HttpReply, Process } from '@openstack-operator/sandbox';
import { SystemError } from '@openstack-operator/sandbox';
import { pause } from '../../program-support.ts';

/** Milliseconds after which a storage server that does not take the connection is given up (`conn_timeout`). */
const connectLimit = 500;

/** A request to a storage server; undefined when none answers. */
export async function backendCall(
  process: Process,
  { ip, port }: { readonly ip: string; readonly port: number },
  method: string,
  path: readonly string[],
  { headers = {}, body = '' }: { readonly headers?: Readonly<Record<string, string>>; readonly body?: string } = {},
): Promise<HttpReply | undefined> {
  try {
    const late = pause(process, connectLimit).then(() => undefined);
    const connection = await Promise.race([process.network.connect(ip, port, 'http'), late]);
    if (connection === undefined) return undefined;
    try {
      const target = `/${path.map(encodeURIComponent).join('/')}`;
      return (await connection.call({ method, path: target, headers, body })) as HttpReply;
    } finally {
      connection.close();
    }
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    return undefined;
  }
}
