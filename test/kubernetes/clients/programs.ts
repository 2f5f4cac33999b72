import type { Image, Process } from '@openstack-operator/sandbox';

function terminated({ signal }: Process): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * What the pods of this suite run, as any tag of `example.com/app`: `serve` says on which port it listens and ends with
 * SIGTERM, `once` prints its arguments and ends, `crash` says why and ends with 3.
 */
export const app: Image = {
  matches: (reference) => reference.startsWith('example.com/app:'),
  entrypoint: ['serve'],
  programs: {
    async serve(process) {
      const port = Number(process.argv[1] ?? 8080);
      process.network.listen(port, 'http', () => ({
        receive: () => Promise.resolve({ status: 200, body: process.pod.name }),
      }));
      process.stdout(`listening on ${port}\n`);
      await terminated(process);
      process.stdout('terminated\n');
      return 0;
    },
    async once(process) {
      for (const word of process.argv.slice(1)) process.stdout(`${word}\n`);
      return 0;
    },
    async crash(process) {
      process.stdout('starting\n');
      process.stderr('fatal: no such database\n');
      return 3;
    },
  },
};
