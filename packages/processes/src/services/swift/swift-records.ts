import type { Process } from '@openstack-operator/sandbox';
import { makeDirectories } from '../../program-support.ts';
import { type RingName, suffixOf } from './swift-ring.ts';

/** The extended attribute in which an object's metadata lie (swift/obj/diskfile.py). */
const metadataKey = 'user.swift.metadata';

/** An account, a container or an object as a device holds it. */
export interface SwiftRecord {
  readonly names: readonly string[];
  readonly timestamp: number;
  readonly deleted: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** What an account or a container lists, by name. */
  readonly rows: Readonly<Record<string, SwiftRow>>;
}

/** An entry of a listing. */
export interface SwiftRow {
  readonly timestamp: number;
  readonly deleted: boolean;
  readonly bytes: number;
}

/** Where a record lies below the devices: `d1/objects/7/<hash>.data`. */
export interface RecordPlace {
  readonly device: string;
  readonly partition: number;
  readonly hash: string;
}

/** Records of one kind of server, of objects those of one policy, below a folder of devices. */
export class SwiftStore {
  readonly #process: Process;
  readonly #folder: string;
  readonly #kind: RingName;
  readonly #top: string;

  constructor(process: Process, folder: string, kind: RingName, policy = 0) {
    this.#process = process;
    this.#folder = folder;
    this.#kind = kind;
    this.#top = `${kind}s${suffixOf(policy)}`;
  }

  /** Whether there is such a device, with `mount_check` one that is mounted (swift/common/constraints.py, check_drive). */
  has(device: string, mountCheck: boolean): boolean {
    const { files } = this.#process;
    const path = `${this.#folder}/${device}`;
    return files.exists(path) && (!mountCheck || files.isMountPoint(path));
  }

  read(place: RecordPlace): SwiftRecord | undefined {
    const path = this.#path(place);
    return this.#process.files.exists(path) ? (JSON.parse(this.#process.files.read(path)) as SwiftRecord) : undefined;
  }

  /** Lays a record over what is there: the newest of each counts. @throws SystemError */
  merge(place: RecordPlace, record: SwiftRecord): void {
    const { files } = this.#process;
    const path = this.#path(place);
    const draft = `${this.#folder}/${place.device}/tmp/${place.hash}`;
    for (const one of [draft, path]) makeDirectories(this.#process, one.slice(0, one.lastIndexOf('/')));
    const whole = merged(this.read(place), record);
    files.write(draft, JSON.stringify(whole));
    try {
      if (this.#kind === 'object') files.setAttribute(draft, metadataKey, JSON.stringify(whole.headers));
    } catch (error) {
      files.remove(draft);
      throw error;
    }
    files.rename(draft, path);
  }

  /** Removes a record, and the folder of its partition where that was the last one. */
  remove(place: RecordPlace): void {
    const { files } = this.#process;
    const path = this.#path(place);
    files.remove(path);
    const folder = path.slice(0, path.lastIndexOf('/'));
    if (files.list(folder).length === 0) files.remove(folder);
  }

  /** All records of a device. */
  list(device: string): RecordPlace[] {
    const { files } = this.#process;
    const top = `${this.#folder}/${device}/${this.#top}`;
    if (!files.exists(top)) return [];
    return files
      .list(top)
      .flatMap((partition) =>
        files
          .list(`${top}/${partition}`)
          .map((name) => ({ device, partition: Number(partition), hash: name.split('.')[0] ?? '' })),
      );
  }

  #path({ device, partition, hash }: RecordPlace): string {
    return `${this.#folder}/${device}/${this.#top}/${partition}/${hash}.${this.#kind === 'object' ? 'data' : 'db'}`;
  }
}

function merged(before: SwiftRecord | undefined, record: SwiftRecord): SwiftRecord {
  if (before === undefined) return record;
  const rows: Record<string, SwiftRow> = { ...before.rows };
  for (const [name, row] of Object.entries(record.rows))
    if ((rows[name]?.timestamp ?? 0) <= row.timestamp) rows[name] = row;
  return { ...(before.timestamp > record.timestamp ? before : record), rows };
}
