import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** Users and groups of every image: accounts.yaml. */
export interface Accounts {
  /** Numeric ids by name: uid = gid. */
  readonly users: Readonly<Record<string, number>>;
  /** Groups of another name than their user's, by user. */
  readonly groups: Readonly<Record<string, string>>;
  /** Homes other than /var/lib/<user>, by user. */
  readonly homes: Readonly<Record<string, string>>;
  /** Further members by group. */
  readonly members: Readonly<Record<string, readonly string[]>>;
}

/** What the operator relies on in an image. contract.yaml says what each field means. */
export interface ImageContract {
  readonly names: readonly string[];
  readonly user: string | number;
  readonly shell?: false;
  readonly commands?: readonly string[];
  readonly runs?: readonly string[];
  readonly wsgi?: readonly string[];
  readonly files?: readonly string[];
  readonly owned?: readonly string[];
  readonly rootwrap?: string;
  readonly resolves?: readonly string[];
  readonly ovsdb?: true;
}

/** The contract between images and operator: contract.yaml. */
export interface Contract {
  /** On PATH of every image that has a shell. */
  readonly commands: readonly string[];
  readonly images: readonly ImageContract[];
}

const read = (name: string): unknown => parse(readFileSync(new URL(name, import.meta.url), 'utf8'));

/** The users and groups of every image. */
export const readAccounts = () => read('accounts.yaml') as Accounts;

/** The contract of every image. */
export const readContract = () => read('contract.yaml') as Contract;
