import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type Identity, Sdk } from './sdk.ts';

/** All that the suite makes carries it, so that the leftovers of a run that was killed are found. */
export const prefix = 'acceptance-';

/** The cloud that is tested, as every client is told of it. @throws Error when nobody told */
function configuration(): string {
  const path = process.env['OS_CLIENT_CONFIG_FILE'];
  if (path === undefined) {
    throw new Error(
      'OS_CLIENT_CONFIG_FILE names no clouds.yaml: run make test-cloud (cloud up), or the suite in the shell of the cloud (make cloud-shell)',
    );
  }
  return path;
}

let sdk: Sdk | undefined;

/** The SDK, started once for all files. */
function theSdk(): Sdk {
  sdk ??= new Sdk(configuration());
  return sdk;
}

/** The administrator's entry of clouds.yaml: the first one. */
function cloudName(): string {
  const { clouds } = parse(readFileSync(configuration(), 'utf8')) as { clouds: Record<string, unknown> };
  const [name] = Object.keys(clouds);
  if (name === undefined) throw new Error(`${configuration()}: clouds is empty`);
  return name;
}

let catalogue = 0;

/** From now on all connect anew: a connection that exists knows the catalogue of when it was made. */
export function readCatalogueAnew(): void {
  catalogue += 1;
}

/** Somebody who uses the cloud. The last argument of a call, when it is a plain object, are its keyword arguments. */
export class User {
  readonly identity: Identity;

  constructor(identity: Identity) {
    this.identity = identity;
  }

  /** The same user with a connection of its own: one that exists knows the catalogue of when it was made. */
  connectedAnew(): User {
    return new User({ ...this.identity, app_name: `${prefix}${randomUUID()}` });
  }

  /**
   * Calls the SDK: `user.call<Server>('compute.create_server', { name: 'a' })`. What the answer looks like is the
   * caller's knowledge.
   * @throws SdkError
   */
  async call<T = unknown>(path: string, ...args: readonly unknown[]): Promise<T> {
    const last = args.at(-1);
    const keywords = typeof last === 'object' && last !== null && !Array.isArray(last) ? last : undefined;
    const positional = keywords === undefined ? args : args.slice(0, -1);
    const { app_name: name = prefix } = this.identity;
    const identity = { ...this.identity, app_name: `${name as string}${catalogue}` };
    return (await theSdk().call(identity, path, positional, keywords ?? {})) as T;
  }
}

/** The administrator of the cloud. */
export function administrator(): User {
  return new User({ cloud: cloudName() });
}

/** What `openstack` prints as JSON. @throws Error with its words when it fails */
export async function openstack<T>(...argv: readonly string[]): Promise<T> {
  const { stdout, stderr, code } = await theSdk().run(cloudName(), [...argv, '-f', 'json']);
  if (code !== 0) throw new Error(`openstack ${argv.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}
