/** Returns what is wrong, or undefined when the check passes. A check that throws fails. */
export type HealthCheck = () => string | undefined | Promise<string | undefined>;

/** Named checks of a process: `live` (else it is restarted) and `ready` (else it gets no traffic). */
export interface Health {
  readonly live: Map<string, HealthCheck>;
  readonly ready: Map<string, HealthCheck>;
}

/** What a round of checks gave. */
export interface HealthReport {
  readonly ok: boolean;
  /** One line a check, as kube-apiserver's `?verbose` has it: anybody may read it, so reasons are withheld. */
  readonly lines: readonly string[];
  /** The reasons of what failed, by check: for the log. */
  readonly failures: Readonly<Record<string, string>>;
}

/** Makes a `Health` without checks. */
export function createHealth(): Health {
  return { live: new Map(), ready: new Map() };
}

/** Asks all checks. */
export async function askHealth(checks: ReadonlyMap<string, HealthCheck>): Promise<HealthReport> {
  const failures: Record<string, string> = {};
  const lines = await Promise.all(
    [...checks].map(async ([name, check]) => {
      const wrong = await Promise.resolve()
        .then(check)
        .catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
      if (wrong === undefined) return `[+]${name} ok`;
      failures[name] = wrong;
      return `[-]${name} failed: reason withheld`;
    }),
  );
  return { ok: Object.keys(failures).length === 0, lines, failures };
}
