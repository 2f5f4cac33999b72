import { spawn } from 'node:child_process';
import { type Clock, parseTimestamp } from '../base/clock.ts';
import { ConfigError, ConnectionError } from '../objects/errors.ts';
import type { Credential, CredentialSource } from './credentials.ts';

/** Versions of `client.authentication.k8s.io` that we speak. */
export const execApiVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'] as const;

/** An `exec` entry of a kubeconfig. */
export interface ExecPlugin {
  /** Names the entry in errors. */
  readonly where: string;
  readonly apiVersion: (typeof execApiVersions)[number];
  /** A name found through PATH, or a path. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint?: string;
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always';
  /** `spec.cluster` of what the plugin is told, when it is to be told. */
  readonly cluster?: Readonly<Record<string, unknown>>;
}

/** What running a plugin takes from the process. */
export interface ExecPluginOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Whether somebody sits at a terminal: standard input is the plugin's, and its standard error is shown. */
  readonly interactive: boolean;
}

/** Milliseconds before its end that a credential is renewed. */
const renewAhead = 30_000;

/** Milliseconds for a plugin to answer: without a terminal, and with somebody who logs in. */
const patience = { alone: 60_000, interactive: 300_000 };

/** As much of its standard error as an error message shows. */
const longestComplaint = 2_000;

/** `ExecCredential.status`. */
interface ExecStatus {
  readonly expirationTimestamp?: string;
  readonly token?: string;
  readonly clientCertificateData?: string;
  readonly clientKeyData?: string;
}

/**
 * Credentials of an exec plugin (https://kubernetes.io/docs/reference/access-authn-authz/authentication/, client-go
 * credential plugins). One run at a time, however many ask; run again 30 s before the end of what it gave, and when the
 * server refuses it.
 *
 * Errors: ConfigError when the command is missing or does not answer as it should, ConnectionError `EXEC_PLUGIN` when it
 * fails or hangs; both name the command.
 */
export function execCredentials(plugin: ExecPlugin, options: ExecPluginOptions): CredentialSource {
  const { clock, interactive } = options;
  let last: { readonly credential: Credential; readonly expiresAt: number } | undefined;
  let running: Promise<Credential> | undefined;

  if (plugin.interactiveMode === 'Always' && !interactive) {
    throw new ConfigError(
      `${plugin.where}: interactiveMode is Always, but there is no terminal; use a plugin that needs none`,
    );
  }
  const asks = interactive && plugin.interactiveMode !== 'Never';

  async function run(): Promise<Credential> {
    const status = parse(plugin, await output(plugin, options, asks));
    const expiresAt = status.expirationTimestamp === undefined ? Infinity : parseTimestamp(status.expirationTimestamp);
    const credential = credentialOf(status);
    last = { credential, expiresAt: Number.isNaN(expiresAt) ? Infinity : expiresAt };
    return credential;
  }

  const runOnce = (): Promise<Credential> => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };

  return {
    current: async () => (last && clock.now() < last.expiresAt - renewAhead ? last.credential : runOnce()),
    async renew(rejected) {
      if (last?.credential === rejected) await runOnce();
      return true;
    },
  };
}

function credentialOf({ token, clientCertificateData: cert, clientKeyData: key }: ExecStatus): Credential {
  return { ...(token ? { token } : {}), ...(cert && key ? { cert, key } : {}) };
}

/** Runs the plugin and gives what it printed. */
function output(plugin: ExecPlugin, { env, clock }: ExecPluginOptions, asks: boolean): Promise<string> {
  const { command, args, where, installHint } = plugin;
  const info = {
    kind: 'ExecCredential',
    apiVersion: plugin.apiVersion,
    spec: { interactive: asks, cluster: plugin.cluster },
  };
  const hint = installHint ? `\n${installHint}` : '';
  return new Promise((resolve, reject) => {
    const fail = (why: string, complaint: string) => {
      const detail = complaint.trim() === '' ? '' : `: ${complaint.trim()}`;
      reject(new ConnectionError('EXEC_PLUGIN', `${where}: ${command} ${why}${detail}${hint}`));
    };
    const child = spawn(command, args, {
      env: { ...env, ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      stdio: [asks ? 'inherit' : 'ignore', 'pipe', 'pipe'],
      shell: false,
    });
    let printed = '';
    let complaint = '';
    const limit = asks ? patience.interactive : patience.alone;
    const timer = clock.after(limit, () => {
      child.kill('SIGKILL');
      fail(`gave no answer within ${limit / 1000} s`, complaint);
    });
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-longestComplaint);
      if (asks) process.stderr.write(text);
    });
    child.once('error', (cause: NodeJS.ErrnoException) => {
      timer.cancel();
      const why = cause.code === 'ENOENT' ? 'not found; install it, or correct the path' : cause.message;
      reject(new ConfigError(`${where}: command ${JSON.stringify(command)}: ${why}${hint}`, { cause }));
    });
    child.once('close', (code, signal) => {
      timer.cancel();
      if (code === 0) resolve(printed);
      else fail(signal ? `was ended by ${signal}` : `failed with exit code ${code}`, complaint);
    });
  });
}

function parse({ where, command, apiVersion }: ExecPlugin, printed: string): ExecStatus {
  const wrong = (what: string) =>
    new ConfigError(`${where}: ${command} printed ${what}; expected an ExecCredential of ${apiVersion}`);
  let value: { kind?: unknown; apiVersion?: unknown; status?: ExecStatus } | null;
  try {
    value = JSON.parse(printed) as typeof value;
  } catch {
    throw wrong('what is no JSON');
  }
  if (value?.kind !== 'ExecCredential') throw wrong(`kind ${JSON.stringify(value?.kind)}`);
  if (value.apiVersion !== apiVersion) throw wrong(`apiVersion ${JSON.stringify(value.apiVersion)}`);
  const { token, clientCertificateData: cert, clientKeyData: key } = value.status ?? {};
  if (!token && !cert && !key) throw wrong('neither a token nor a client certificate');
  if (!cert !== !key) throw wrong(cert ? 'a certificate without its key' : 'a key without its certificate');
  return value.status ?? {};
}
