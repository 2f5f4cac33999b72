import type { Data } from '../../formats/data.ts';
import type { Format } from '../../formats/write-data.ts';
import type { Layer } from '../../oslo/layers.ts';
import type { OwnedOptions, WrittenConfig } from '../configuration/user-config.ts';

/** An oslo.config file: the operator's layer, over which the user's are laid. */
export interface OsloSource {
  readonly oslo: Layer;
  /** Which sections of what users and peers say of a file of this name count here; default: all. */
  readonly takes?: (section: string) => boolean;
  /** What users cannot set in a file of this name, beside what the service says, where that depends on the resource. */
  readonly owned?: OwnedOptions;
  /** User layers of its own, the last ones (a node group's). */
  readonly more?: readonly UserLayer[];
  /** Secrets stand in the file itself, in no variable: it is handed on to what is no container. */
  readonly whole?: true;
}

/** What users say of a file elsewhere than in `spec.config`. */
export interface UserLayer {
  /** Where it stands, such as `spec.nodeGroups[name=edge].config`. */
  readonly path: string;
  readonly config: WrittenConfig | undefined;
  /** Options that it cannot set, beside those that no layer of the service can. */
  readonly owned?: OwnedOptions;
}

/**
 * A file that is data in another format than oslo.config's: the operator's layer, over which those of users are laid by the
 * same rules (`spec.config`, by the name of the file). With references to Secrets, the file is a Secret.
 */
export interface DataSource {
  readonly format: Format;
  readonly data: Data;
  /** What users cannot set: path of keys (`DATABASES.default`), each with one `*` for any characters -> the field instead. */
  readonly owned?: Readonly<Record<string, string>>;
}

/** Files by absolute path: an oslo.config file as data, data in another format, or a text. */
export type ConfigFiles = Readonly<Record<string, OsloSource | DataSource | string>>;
