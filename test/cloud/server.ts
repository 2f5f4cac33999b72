import type { User } from './running-cloud.ts';
import { prefix } from './running-cloud.ts';
import { SdkError } from './sdk.ts';
import { until } from './until.ts';

/** A server, as far as the suite looks at it. */
export interface ServerState {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly project_id: string;
  readonly power_state: number;
  readonly task_state: string | null;
  readonly created_at: string;
  readonly addresses: Readonly<Record<string, readonly { readonly addr: string }[]>>;
  readonly fault: { readonly message: string; readonly details?: string } | null;
}

/** Nothing, where an API was not reached. @throws what else went wrong */
function unreached(error: unknown): string {
  if (error instanceof SdkError && error.kind === 'ConnectFailure') return '';
  throw error;
}

/** What a user says of a server that he wants. */
export interface Wanted {
  readonly name: string;
  readonly image: string;
  readonly flavor: string;
  readonly networks: readonly { readonly uuid: string; readonly fixed_ip?: string }[];
  /** A script that the guest runs. */
  readonly script?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Of a group of servers that says on which hosts they are. */
  readonly group?: string;
  /** An availability zone, or a host of it as `zone:host`. */
  readonly zone?: string;
}

/** A server of a user, and what its guest says on the serial console. */
export class Server {
  readonly user: User;
  readonly id: string;
  readonly name: string;

  constructor(user: User, { id, name }: Pick<ServerState, 'id' | 'name'>) {
    this.user = user;
    this.id = id;
    this.name = name;
  }

  static async create(
    user: User,
    { name, image, flavor, networks, script, metadata, group, zone }: Wanted,
  ): Promise<Server> {
    const state = await user.call<ServerState>('compute.create_server', {
      name: `${prefix}${name}`,
      image_id: image,
      flavor_id: flavor,
      networks,
      ...(script === undefined ? {} : { user_data: Buffer.from(`#!/bin/sh\n${script}\n`).toString('base64') }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(zone === undefined ? {} : { availability_zone: zone }),
      ...(group === undefined ? {} : { scheduler_hints: { group } }),
    });
    return new Server(user, { id: state.id, name: `${prefix}${name}` });
  }

  state(): Promise<ServerState> {
    return this.user.call<ServerState>('compute.get_server', this.id);
  }

  /** Waits for a status that lasts: no task is under way. */
  reaches(status: string, seconds = 90): Promise<ServerState> {
    return until({
      what: `server ${this.name} to be ${status}`,
      seconds,
      probe: async () => {
        const state = await this.state();
        if (state.status === 'ERROR' && status !== 'ERROR') {
          throw new Error(`server ${this.name} is in ERROR, expected ${status}\n${await this.#explain()}`);
        }
        return state.status === status && state.task_state === null ? state : undefined;
      },
      explain: () => this.#explain(),
    });
  }

  /** Waits until the server is no more. */
  async gone(seconds = 60): Promise<void> {
    await until({
      what: `server ${this.name} to be gone`,
      seconds,
      probe: async () => {
        try {
          await this.state();
        } catch (error) {
          if (error instanceof SdkError && error.status === 404) return true;
          throw error;
        }
      },
      explain: () => this.#explain(),
    });
  }

  /** All that the guest has said since it was switched on. While the server has a task, Nova fails to find it. */
  async console(): Promise<string> {
    const { output } = await this.user.call<{ output: string }>('compute.get_server_console_output', this.id);
    return output.replaceAll('\r', '');
  }

  /** Waits for words of the guest. */
  says(words: RegExp, seconds = 90): Promise<RegExpExecArray> {
    return until({
      what: `server ${this.name} to say ${words}`,
      seconds,
      // The console comes from the hypervisor: while that is busy, so may be all workers of the API, which then takes none.
      probe: async () => words.exec(await this.console().catch(unreached)) ?? undefined,
      explain: () => this.#explain(),
    });
  }

  async delete(): Promise<void> {
    await this.user.call('compute.delete_server', this.id);
    await this.gone();
  }

  async #explain(): Promise<string> {
    const { status, task_state: task, fault } = await this.state();
    const lines = (await this.console().catch(String)).trimEnd().split('\n').slice(-20);
    const trouble = fault === null || fault === undefined ? '' : `; fault: ${fault.message} ${fault.details ?? ''}`;
    return `${this.name} is ${status}, task ${task}${trouble}; its console:\n  ${lines.join('\n  ')}`;
  }
}
