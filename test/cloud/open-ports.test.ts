import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { program } from './kubernetes.ts';

/** Ports of Kubernetes' own processes on a node that is the control plane as well: its documentation says what they are for. */
const kubernetes: readonly number[] = [6443, 10250, 10256, 10257, 10259];

/** The page whose table says which TCP ports of nodes answer for a cloud: `| 5900-5999 | ... |`. */
const page = new URL('../../docs/guides/security.md', import.meta.url);

/** First and last port of each row of that table. */
function documented(): readonly (readonly [number, number])[] {
  const rows = readFileSync(page, 'utf8').matchAll(/^\| (\d+)(?:-(\d+))? TCP\b/gmu);
  return [...rows].map(([, first, last]) => [Number(first), Number(last ?? first)]);
}

/** Whether something answers at a TCP port: refused is no, silence for two seconds is an error. */
function answers(host: string, port: number): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const socket = connect({ host, port, timeout: 2000 });
  socket.once('connect', () => resolve(true));
  socket.once('error', (error: NodeJS.ErrnoException) =>
    error.code === 'ECONNREFUSED' ? resolve(false) : reject(error),
  );
  socket.once('timeout', () => reject(new Error(`${host} does not answer at port ${port}`)));
  return promise.finally(() => socket.destroy());
}

/** All TCP ports that answer. */
async function openPorts(host: string): Promise<readonly number[]> {
  const open: number[] = [];
  let next = 1;
  const search = async () => {
    for (let port = next++; port <= 65535; port = next++) if (await answers(host, port)) open.push(port);
  };
  await Promise.all(Array.from({ length: 200 }, search));
  return open.toSorted((one, other) => one - other);
}

test('no TCP port of a node answers that the page on security does not name', async () => {
  const addresses = '{.items[*].status.addresses[?(@.type=="InternalIP")].address}';
  const nodes = (await program('kubectl', 'get', 'nodes', '-o', `jsonpath=${addresses}`)).split(' ');
  const ranges = documented();
  expect(ranges).not.toEqual([]);
  for (const node of nodes) {
    const open = await openPorts(node);
    // The scan sees what is there.
    expect(open, node).toContain(10250);
    const unnamed = open.filter(
      (port) => !kubernetes.includes(port) && !ranges.some(([first, last]) => first <= port && port <= last),
    );
    expect(unnamed, node).toEqual([]);
  }
});
