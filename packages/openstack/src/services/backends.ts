import { database, locks, logging, messaging, sections } from '../engine/configuration/sections.ts';
import type { OwnedOptions } from '../engine/configuration/user-config.ts';
import type { CloudResource } from '../engine/vocabulary/cloud-resources.ts';
import type { Command, Component, Mount } from '../engine/vocabulary/component.ts';
import type { ConfigFiles, UserLayer } from '../engine/vocabulary/config-files.ts';
import type { Context } from '../engine/vocabulary/context.ts';
import type { Dependencies } from '../engine/vocabulary/service.ts';
import type { Problem } from '../engine/vocabulary/step.ts';
import type { ReferenceField } from '../engine/vocabulary/surroundings.ts';
import type { Layer } from '../oslo/layers.ts';

/**
 * Services that keep what users make (volumes, shares) in backends: each has a section of the service's file, a process that
 * is alone, and a type of its name. `backend-fields.ts` has their fields, `backend-memory.ts` what becomes of those that go.
 */

/** One of them, as far as all services know it. */
export interface Backend {
  readonly name: string;
  readonly type: string;
  readonly backendHost?: string;
  readonly config?: UserLayer['config'];
}

/** How a service words its backends. */
export interface BackendWords {
  /** Its name: the file is `/etc/cinder/cinder.conf`. */
  readonly project: string;
  /** The component of which each backend has a variant. */
  readonly component: string;
  /** Another one of which backends of some types have a variant. */
  readonly beside?: string;
  /** Option that names the class of a driver. */
  readonly driver: string;
  /** Option, and key of a type, by which the scheduler finds a backend. */
  readonly label: string;
}

/** The backends; none while a control plane has disabled the service and does not name any. */
export function backendsOf<B>({ backends = [] }: { readonly backends?: readonly B[] }): readonly B[] {
  return backends;
}

/** What services and what users make are recorded under: a pod's name would leave a service that is down for each pod that went. */
export const hostOf = ({ name }: Pick<Context, 'name'>, { backendHost = name }: Backend): string => backendHost;

const setOf = ({ component }: BackendWords, { name }: Backend): string => `${component}-${name}`;

/** What all of its files say. `host`: what a process is recorded under. */
export function common({ project }: BackendWords, context: Context, host: string, ...more: readonly Layer[]): Layer {
  const own = { DEFAULT: { host, state_path: `/var/lib/${project}` } };
  return sections(logging, database(context, project), messaging(context), own, locks(project), ...more);
}

/** A file of the service. */
export function fileOf({ project }: Pick<BackendWords, 'project'>, oslo: Layer, more?: UserLayer): ConfigFiles {
  return { [`/etc/${project}/${project}.conf`]: { oslo, ...(more && { more: [more] }) } };
}

/** A set of files for each backend, so that a change of one stops no other. */
export function backendSets<B extends Backend>(
  words: BackendWords,
  backends: readonly B[],
  files: (backend: B) => ConfigFiles,
): Record<string, ConfigFiles> {
  return Object.fromEntries(backends.map((backend) => [setOf(words, backend), files(backend)]));
}

/** One backend alone: its section has its name. */
export function backendSection({ label }: BackendWords, { name }: Backend, options: Layer[string]): Layer {
  return { [name]: { [label]: name, ...options } };
}

/** What users say of a backend stands over its section; `owned`: option -> the field of the backend, or the place, to set instead. */
export function backendLayer(
  { label }: BackendWords,
  { name, config }: Backend,
  {
    fields,
    elsewhere = {},
  }: { fields: Readonly<Record<string, string>>; elsewhere?: Readonly<Record<string, string>> },
): UserLayer {
  const path = pathOf(name);
  const own = Object.entries({ [label]: 'name', ...fields }).map(([option, field]) => [option, `${path}.${field}`]);
  return { path: `${path}.config`, config, owned: { [name]: { ...Object.fromEntries(own), ...elsewhere } } };
}

/** A component for each backend. Two at once would take each other's work for abandoned: the old one ends before the new one starts. */
export function backendComponents<B extends Backend>(
  words: BackendWords,
  backends: readonly B[],
  component: (backend: B) => Component,
): Record<string, Component> {
  return Object.fromEntries(
    backends.map((backend) => {
      const set = setOf(words, backend);
      return [set, { ...component(backend), ...alone(words.component), config: set }];
    }),
  );
}

/** Of a component of which one process may run at a time. */
export const alone = (variantOf: string) => ({ variantOf, strategy: 'Recreate' }) as const;

/** A type for each backend, which leads to it alone. */
export function backendTypes<B extends Backend>(
  { label }: BackendWords,
  backends: readonly B[],
  { specs = () => ({}), ...type }: { in: ReferenceField; kind: string; specs?: (backend: B) => Record<string, string> },
): CloudResource[] {
  return backends.map((backend) => ({
    ...type,
    name: backend.name,
    attributes: { extra_specs: { [label]: backend.name, ...specs(backend) } },
  }));
}

/** What is wrong with backends: sections that are set elsewhere, drivers that nobody names, and what `more` says of one. */
export function backendProblems<B extends Backend>(
  { project, driver }: BackendWords,
  { spec }: { readonly spec: { readonly backends?: readonly B[]; readonly config?: UserLayer['config'] } },
  more: (backend: B, at: string) => readonly string[],
): string[] {
  const file = `${project}.conf`;
  return backendsOf(spec).flatMap((backend) => {
    const { name, type, config } = backend;
    const at = pathOf(name);
    // There nothing would keep it from what the backend's own fields say.
    if (spec.config?.[file]?.[name] !== undefined)
      return [`spec.config["${file}"].${name}: the section of a backend is set in ${at}.config`];
    const named = type !== 'custom' || config?.[file]?.[name]?.[driver] !== undefined;
    const unnamed = `${at}.config: type custom needs the option ${driver} of section ${name} of ${file}: the class of the driver`;
    return named ? more(backend, at) : [unnamed];
  });
}

/** What such a service depends on, beside what its backends do. */
export const dependsOn = {
  databaseRef: 'steps',
  messageQueueRef: 'steps',
  cacheRef: 'steps',
  coordinationRef: 'steps',
  keystoneRef: 'start',
} as const satisfies Dependencies;

/** Options of all of its files that users cannot set, beside `more`. */
export const ownedBy = (more: Readonly<Record<string, string>>): OwnedOptions => ({
  DEFAULT: {
    host: 'nothing: services are recorded under it',
    state_path: 'nothing: volumes are mounted there',
    ...more,
  },
});

/** Where its programs keep what they need while they run. */
export const stateOf = ({ project }: Pick<BackendWords, 'project'>): readonly Mount[] => [
  { path: `/var/lib/${project}`, scratch: true },
];

/** Its API, of two processes of uwsgi. */
export function apiOf(words: BackendWords, application: string, port: number): Component {
  return {
    workload: 'Deployment',
    image: `${words.project}-api`,
    runs: { wsgi: application, threads: 1 },
    ports: { api: port },
    health: { get: '/healthcheck', port: 'api' },
    exposed: 'api',
    reachable: 'anyone',
    mounts: stateOf(words),
    resources: { cpu: '50m', memory: '384Mi' },
  };
}

/** A program without a port, which is well when it is connected to the broker. */
export function worker(
  { project }: BackendWords,
  { broker }: Pick<Context, 'broker'>,
  name: string,
  memory: string,
): Component & { readonly runs: Command } {
  const program = `${project}-${name}`;
  return {
    workload: 'Deployment',
    image: program,
    config: name,
    runs: { command: [program, '--config-file', `/etc/${project}/${project}.conf`] },
    health: { connected: program, to: [`${broker.host}:${broker.port}`] },
    mounts: stateOf({ project }),
    graceSeconds: 70,
    resources: { cpu: '50m', memory },
  };
}

/** What keeps it from being configured, as a step's problem. */
export function refusedBy(messages: readonly string[]): Readonly<Record<string, Problem>> {
  return messages.length === 0 ? {} : { ConfigReady: { reason: 'ConfigRefused', message: messages.join('; ') } };
}

/** The field of a backend. */
export const pathOf = (name: string): string => `spec.backends[name=${name}]`;
