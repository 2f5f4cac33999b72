import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInImage } from '../../images/root-file-system.ts';
import type { ServiceRecipe } from './recipe.ts';
import type { Root } from './roots.ts';

const program = readFileSync(join(import.meta.dirname, 'collect.py'), 'utf8');
/** The user need not exist in the root: nothing is written. */
const nobody = 65_534;
/** Namespaces of tests, and of a client that registers them under other names. */
const without = [
  'castellan.tests.functional.config',
  'heat_integrationtests.common.config',
  'manilaclient.config',
  'openstack_dashboard',
  'openstack_dashboard_integration_tests',
];

/** An option as collect.py prints it: what is absent is false, empty or unknown. */
export interface CollectedOption {
  readonly group: string;
  readonly name: string;
  readonly type: string;
  readonly default: unknown;
  readonly help?: string;
  readonly [fact: string]: unknown;
}

/** A policy rule as collect.py prints it. */
export interface CollectedRule {
  readonly name: string;
  readonly check: string;
  readonly [fact: string]: unknown;
}

/** A namespace: which distribution declares its options, and why it was asked (own, required, sample). */
export interface CollectedNamespace {
  readonly owner: string;
  readonly origin: string;
  readonly options: readonly CollectedOption[];
}

/** What collect.py prints of one service. */
export interface Answer {
  readonly versions: Readonly<Record<string, string>>;
  /** The version of the Debian package; empty where there is none. */
  readonly debian: string;
  readonly namespaces: Readonly<Record<string, CollectedNamespace>>;
  /** Namespaces that could not be loaded, with Python's words. */
  readonly unreadable: Readonly<Record<string, string>>;
  readonly policies: readonly CollectedRule[];
  /** Console scripts: name, `module:function`. */
  readonly programs: readonly (readonly [string, string])[];
  /** WSGI entries: name, or nothing for a module, and `module:object`. */
  readonly wsgi: readonly (readonly [string, string])[];
  /** Options of keystoneauth's plug-ins by `auth_type`. */
  readonly plugins: Readonly<Record<string, readonly CollectedOption[]>>;
}

/** Asks the packages of a root about one service. @throws Error with Python's last words */
export function askService(root: Root, service: ServiceRecipe): Answer {
  return ask(root, { ...service, required: service.extends === undefined, without });
}

/** Namespaces as they are when no service has changed their defaults, and keystoneauth's plug-ins. */
export function askLibraries(root: Root, namespaces: readonly string[], plugins: boolean): Answer {
  return ask(root, { distributions: [], also: namespaces, plugins });
}

function ask(root: Root, question: object): Answer {
  const { status, output } = runInImage(root.image, {
    directory: root.directory,
    uid: nobody,
    groups: [],
    command: ['python3', '-c', program],
    input: JSON.stringify(question),
  });
  const [line = ''] = output.split('\n', 1);
  if (status !== 0 || !line.startsWith('{')) throw new Error(output.slice(-2000));
  return JSON.parse(line) as Answer;
}
