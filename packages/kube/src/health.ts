/** Says what is wrong, or nothing when all is well. Throwing counts as wrong. */
export type HealthCheck = () => string | undefined | Promise<string | undefined>;

/** Named checks of a process: `live` (else it is restarted) and `ready` (else it gets no traffic). */
export interface Health {
  readonly live: Map<string, HealthCheck>;
  readonly ready: Map<string, HealthCheck>;
}

/** Makes a `Health` without checks. */
export function createHealth(): Health {
  return { live: new Map(), ready: new Map() };
}

/** Asks all checks: the text for people, line by line as kube-apiserver's `?verbose` has it, and whether all is well. */
export async function askHealth(checks: ReadonlyMap<string, HealthCheck>): Promise<{ ok: boolean; lines: string[] }> {
  const lines = await Promise.all(
    [...checks].map(async ([name, check]) => {
      try {
        const wrong = await check();
        return wrong === undefined ? `[+]${name} ok` : `[-]${name} failed: ${wrong}`;
      } catch (error) {
        return `[-]${name} failed: ${error instanceof Error ? error.message : String(error)}`;
      }
    }),
  );
  return { ok: lines.every((line) => line.startsWith('[+]')), lines };
}
