import { type DynamicGroup, dynamicGroupsOf } from './dynamic-groups.ts';
import { type OptionFacts, type OptionLine, optionOf } from './option-facts.ts';
import { parsedOf } from './parsed.ts';
import { releaseTexts, services } from './releases.ts';

/** A namespace of oslo.config that a service reads. */
export interface NamespaceFacts {
  readonly name: string;
  /** The distribution of Python that declares it. */
  readonly owner: string;
  /**
   * Why it is here: the service's own; declared by a library that the service requires; or only listed in upstream's
   * sample configuration.
   */
  readonly origin: 'own' | 'required' | 'sample';
}

/** A program, or what a web server loads. */
export interface EntryFacts {
  /** The program's name; empty for a module that no script is made of. */
  readonly name: string;
  /** `module:object`. */
  readonly target: string;
}

/** What OpenStack's packages say of one service. */
export interface ServiceFacts {
  readonly release: string;
  readonly name: string;
  /** Of the service's own distribution. */
  readonly version: string;
  /** By distribution of Python, the service's own and what else it is made of. */
  readonly versions: Readonly<Record<string, string>>;
  /** The Debian package that was asked, and its version; absent: it is PyPI's. */
  readonly debian?: readonly [name: string, version: string];
  /** Whether our images were asked, or packages that they do not have. */
  readonly source: 'images' | 'packages';
  /** It is a plug-in of that service, in whose files its options stand. */
  readonly extends?: string;
  readonly namespaces: readonly NamespaceFacts[];
  /** Namespaces whose options are unknown, with the reason: `[name, Python's words]`. */
  readonly unreadable: readonly (readonly [name: string, reason: string])[];
  readonly programs: readonly EntryFacts[];
  readonly wsgi: readonly EntryFacts[];
  /** By group and name; each once, of the namespace that is the service's own where several declare it. */
  readonly options: readonly OptionFacts[];
  /** The option, if the service knows it by this name. */
  option(group: string, name: string): OptionFacts | undefined;
  /** The option that has this deprecated name. */
  renamed(group: string, name: string): OptionFacts | undefined;
  /** Groups whose names a user chooses. */
  readonly dynamicGroups: readonly DynamicGroup[];
}

/** A service in the generated files. */
interface ServiceText {
  readonly source: 'images' | 'packages';
  readonly extends?: string;
  readonly debian?: readonly [string, string];
  readonly versions: Readonly<Record<string, string>>;
  readonly namespaces: readonly (readonly [name: string, owner: string, origin: NamespaceFacts['origin']])[];
  readonly unreadable: readonly (readonly [string, string])[];
  readonly programs: readonly (readonly [string, string])[];
  readonly wsgi: readonly (readonly [string, string])[];
  /** Options of libraries that this service changes, by namespace. */
  readonly changed: Readonly<Record<string, readonly OptionLine[]>>;
}

type OptionText = Readonly<Record<string, readonly OptionLine[]>>;

const known = new Map<string, ServiceFacts>();

/** What is known of a service (`nova`) in a release (`2025.1`). Its options are parsed when they are first asked for. */
export function factsOf(release: string, service: string): ServiceFacts | undefined {
  const key = `${release}/${service}`;
  const text = known.has(key) ? undefined : parsedOf<ServiceText>(releaseTexts.get(release)?.services, service);
  if (text !== undefined) known.set(key, serviceFacts(release, service, text));
  return known.get(key);
}

/** The plug-ins of a service that this release has facts of: their options stand in the service's files. */
export function pluginsOf(release: string, service: string): readonly ServiceFacts[] {
  return services(release).flatMap((name) => {
    const facts = factsOf(release, name);
    return facts?.extends === service ? [facts] : [];
  });
}

/** keystoneauth's plug-ins: the values that `auth_type` may have. */
export function authTypes(release: string): readonly string[] {
  return Object.keys(parsedOf<OptionText>(releaseTexts.get(release)?.plugins, 'keystoneauth') ?? {});
}

/** Options of keystoneauth's plug-ins, which stand in any group that has an `auth_type`, by plug-in (`password`). */
export function authOptionsOf(release: string, authType: string): readonly OptionFacts[] | undefined {
  const lines = parsedOf<OptionText>(releaseTexts.get(release)?.plugins, 'keystoneauth')?.[authType];
  return lines?.map((line) => optionOf('keystoneauth', line));
}

function serviceFacts(release: string, name: string, text: ServiceText): ServiceFacts {
  const { source, versions, unreadable, programs, wsgi } = text;
  const namespaces = text.namespaces.map(([name, owner, origin]) => ({ name, owner, origin }));
  const index = once(() => indexOf(release, text));
  const options = once(() => [...index().values()].sort(byGroupAndName));
  const renamed = once(() => renamedOf(options()));
  return {
    release,
    name,
    source,
    versions,
    namespaces,
    unreadable,
    version: Object.values(versions)[0] ?? '',
    ...(text.debian === undefined ? {} : { debian: text.debian }),
    ...(text.extends === undefined ? {} : { extends: text.extends }),
    programs: programs.map(entryOf),
    wsgi: wsgi.map(entryOf),
    get options() {
      return options();
    },
    option: (group, name) => index().get(keyOf(group, name)),
    renamed: (group, name) => renamed().get(keyOf(group, name)),
    get dynamicGroups() {
      return dynamicGroupsOf(name, options());
    },
  };
}

/** Every option once: what the service declares itself comes first, what it changes before what it finds. */
function indexOf(release: string, { namespaces, changed }: ServiceText): ReadonlyMap<string, OptionFacts> {
  const index = new Map<string, OptionFacts>();
  const own = namespaces.filter(([, , origin]) => origin === 'own');
  for (const [namespace, owner] of [...own, ...namespaces]) {
    const common = parsedOf<OptionText>(releaseTexts.get(release)?.options, owner)?.[namespace] ?? [];
    for (const line of [...(changed[namespace] ?? []), ...common]) {
      const key = keyOf(line[0], line[1]);
      if (!index.has(key)) index.set(key, optionOf(namespace, line));
    }
  }
  return index;
}

function renamedOf(options: readonly OptionFacts[]): ReadonlyMap<string, OptionFacts> {
  return new Map(options.flatMap((option) => option.deprecated.map(([group, name]) => [keyOf(group, name), option])));
}

function entryOf([name, target]: readonly [string, string]): EntryFacts {
  return { name, target };
}

function keyOf(group: string, name: string): string {
  return `[${group}] ${name}`;
}

function byGroupAndName(a: OptionFacts, b: OptionFacts): number {
  return a.group < b.group ? -1 : a.group > b.group ? 1 : a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
