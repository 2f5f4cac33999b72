import type { Image, Process, Program } from '../programs/program.ts';

/** Resolves on SIGTERM. */
export function untilTerminated({ signal }: Process): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Serves 200 on the port (default 80) and the address (default: all) that its arguments name, until SIGTERM. */
const web: Program = async (process) => {
  const [, port = '80', host] = process.argv;
  const receive = () => Promise.resolve({ status: 200, body: `hello from ${process.pod.name}` });
  process.network.listen(Number(port), 'http', () => ({ receive }), host === undefined ? {} : { host });
  process.stdout('listening\n');
  await untilTerminated(process);
  process.stdout('bye\n');
  return 0;
};

/** Tiny programs for tests: `web`, `once` (exits 0), `crash` (exits 1), `sleep`, `env`, `cat`, `fetch`. */
export const testImage: Image = {
  matches: (reference) => reference.startsWith('test'),
  entrypoint: ['web'],
  programs: {
    web,
    once: async (process) => {
      process.stdout('done\n');
      return 0;
    },
    crash: async (process) => {
      process.stderr('boom\n');
      return 1;
    },
    sleep: async (process) => {
      await new Promise<void>((resolve) => {
        process.clock.after(Number(process.argv[1] ?? 1) * 1000, resolve);
        process.signal.addEventListener('abort', () => resolve(), { once: true });
      });
      return process.signal.aborted ? 143 : 0;
    },
    stubborn: () => new Promise<never>(() => {}),
    env: async (process) => {
      for (const [name, value] of Object.entries(process.env)) process.stdout(`${name}=${value}\n`);
      return 0;
    },
    cat: async (process) => {
      try {
        for (const path of process.argv.slice(1)) process.stdout(process.files.read(path));
        return 0;
      } catch (error) {
        process.stderr(`${(error as Error).message}\n`);
        return 1;
      }
    },
    write: async (process) => {
      try {
        process.files.write(process.argv[1] ?? '', process.argv[2] ?? '');
        return 0;
      } catch (error) {
        process.stderr(`${(error as Error).message}\n`);
        return 1;
      }
    },
    fetch: async (process) => {
      try {
        const connection = await process.network.connect(process.argv[1] ?? '', Number(process.argv[2] ?? 80), 'http');
        const reply = (await connection.call({ method: 'GET', path: '/', headers: {}, body: '' })) as { body: string };
        process.stdout(reply.body);
        return 0;
      } catch (error) {
        process.stderr(`${(error as { code: string }).code}\n`);
        return 1;
      }
    },
  },
};
