import type { KubeObject } from '@openstack-operator/kube';
import { commonAccounts } from './common-accounts.ts';
import type { Init, Mount, Runs } from './component.ts';
import { conditionOf } from './conditions.ts';
import { type Context, contextOf, databaseName, externalOf } from './context.ts';
import { fieldFor } from './dependencies.ts';
import { imageOf } from './images.ts';
import { deregistrationSuffix, labelsOf } from './names.ts';
import { podSpec } from './pod.ts';
import type { Capability, Service } from './service.ts';
import type { ServiceResource, ServiceSpec, Surroundings } from './surroundings.ts';

/** How what a deleted resource has elsewhere is taken back. */
export interface Deregistration {
  /** Absent where nothing is to be done. */
  readonly job?: KubeObject;
  /** What the Job takes back, in words. */
  readonly things: readonly string[];
  /** What cannot be taken back, and why. */
  readonly lost: readonly string[];
}

/** What a deregistration has to know beside the surroundings. */
export interface Remaining {
  readonly hasSecret: (name: string) => boolean;
  /** Whether the control plane that owns the resource goes, and its Keystone with it. */
  readonly goesWithOwner: boolean;
  /** Whether that control plane makes the resource anew at once. */
  readonly comesBack: boolean;
}

/** Seconds that it may take; then the resource goes without. */
export const deregistrationSeconds = 600;

const folder = '/etc/openstack/deregister';

/** What a spec says of a server that this operator does not run; undefined when it is one of ours, or none. */
function externalFor(service: Pick<Service, 'providers'>, spec: ServiceSpec, capability: Capability): unknown {
  const field = fieldFor(service, capability);
  return field && externalOf(spec, field);
}

/**
 * Whether something of the resource may live on without it: in a Keystone, whosever it is, or in a database server or
 * broker that this operator does not run.
 */
export function leavesRecords(service: Pick<Service, 'providers'>, { spec = {} }: ServiceResource): boolean {
  const isExternal = (capability: Capability) => externalFor(service, spec, capability) !== undefined;
  return fieldFor(service, 'identity') !== undefined || isExternal('database') || isExternal('broker');
}

/**
 * The Job `<name>-deregister`: takes back what the lists of the records Jobs have made in what lives on. The user in
 * Keystone is disabled, never deleted, because trusts and access rules hang on it (production rule 17), and the
 * endpoints go, unless that Keystone goes as well. Databases, virtual hosts and their users go with `deletionPolicy:
 * Delete` only, as Retain keeps data; those of servers that this operator runs stay. What was never made has no list (a
 * Secret), and is no concern of it.
 */
export function deregistration<R extends ServiceResource>(
  service: Service<R>,
  resource: R,
  surroundings: Surroundings,
  { hasSecret, goesWithOwner, comesBack }: Remaining,
): Deregistration {
  // A client that logs in between would have a catalogue without it for as long as its token is valid.
  if (comesBack) return { things: [], lost: [] };
  const context = contextOf(service, resource, surroundings) as unknown as Context;
  const { accounts, spec, region } = context;
  const isExternal = (capability: Capability) => externalFor(service, spec, capability) !== undefined;
  const remove = spec.deletionPolicy === 'Delete';
  const mounts: Mount[] = [];
  const things: string[] = [];
  const lists: string[] = [];
  const lost: string[] = [];
  const { jobs = {} } = (resource['status'] ?? {}) as { jobs?: Readonly<Record<string, string>> };
  /** Which other one has the same account there: it would stand still without that. */
  const leftTo = (capability: Capability): string | undefined => {
    const words = surroundings
      .twins()
      .flatMap((twin) =>
        commonAccounts(service as unknown as Service, context.name, spec, twin).flatMap((common) =>
          common.capability === capability ? [`${twin.kind} ${twin.name} has ${common.what} as well`] : [],
        ),
      );
    return words[0];
  };
  /** Mounts the list of a records Job; undefined where there is none, or where `left` says why it is not worked off. */
  const mount = (target: string, job: string, thing: string, left?: string): string | undefined => {
    const list = context.named(job);
    const exists = hasSecret(list);
    if (!exists || left !== undefined) {
      if (exists || list in jobs) lost.push(`${thing} (${left ?? 'its list is gone'})`);
      return undefined;
    }
    things.push(thing);
    mounts.push({ path: `${folder}/${target}`, secret: list, follows: true });
    return `${folder}/${target}`;
  };
  const addList = (...[target, job, thing, left]: Parameters<typeof mount>) => {
    const path = mount(target, job, thing, left);
    if (path !== undefined) lists.push(`${target}=${path}/records.json`);
  };
  const theirs = isExternal('identity');
  const field = fieldFor(service, 'identity');
  const keystone = theirs || goesWithOwner || field === undefined ? undefined : context.reference(field);
  const livesOn = theirs || (keystone !== undefined && keystone.metadata.deletionTimestamp === undefined);
  if (service.identity !== undefined && livesOn) {
    const { user, serviceName } = accounts.identity;
    const endpoints = `endpoints of ${serviceName} in region ${region} of Keystone`;
    const left = leftTo('identity');
    if (left !== undefined) addList('keystone', 'endpoint-create', endpoints, left);
    else {
      const isReady = keystone === undefined || conditionOf(keystone, 'Ready')?.status === 'True';
      const left = isReady ? undefined : `Keystone ${keystone.metadata.name} is not Ready`;
      addList('keystone', 'endpoint-create', `user ${user} and ${endpoints}`, left);
    }
  }
  if (remove && service.messaging === true && isExternal('broker'))
    addList(
      'rabbitmq',
      'mq-create',
      `user ${accounts.broker.user} and its virtual hosts on the broker`,
      leftTo('broker'),
    );
  const images = { component: deregistrationSuffix, main: false, spec, release: context.release };
  const runs: (Init & { image: string; user: NonNullable<Init['user']> })[] = [];
  if (lists.length > 0) {
    const command = ['openstack-operator', 'records', 'remove', ...lists];
    runs.push({ name: 'records', image: surroundings.operatorImage, user: 'operator', runs: { command } });
  }
  if (remove && service.databases !== undefined && isExternal('database')) {
    const databases = new Set([
      ...service.databases.map(({ name }) => databaseName(accounts, name)),
      ...(service.moreDatabases?.(context as unknown as Context<R>) ?? []),
    ]);
    const thing = `databases ${[...databases].join(', ')} and user ${accounts.database.user} of the database server`;
    const path = mount('mariadb', 'db-create', thing, leftTo('database'));
    const image = imageOf('mariadb-server', images);
    if (path !== undefined)
      runs.push({ name: 'mariadb', image, user: 'mysql', runs: dropping(path, databases, accounts) });
  }
  const last = runs.pop();
  if (last === undefined) return { things, lost };
  const labels = labelsOf(service.name, context.name, deregistrationSuffix);
  const pod = podSpec({
    name: last.name,
    image: last.image,
    user: last.user,
    runs: last.runs,
    init: runs,
    configs: [],
    mounts,
    spec: { ...spec, resources: undefined },
    restartPolicy: 'Never',
  });
  return {
    things,
    lost,
    job: {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: context.named(deregistrationSuffix), namespace: context.namespace, labels },
      spec: {
        backoffLimit: 6,
        activeDeadlineSeconds: deregistrationSeconds,
        podReplacementPolicy: 'Failed',
        template: { metadata: { labels }, spec: pod },
      },
    },
  };
}

/**
 * Drops the user, and the databases that nobody else has rights to: two resources may reach one server by two names,
 * which nothing here can tell. Who may not read the rights drops nothing.
 */
function dropping(path: string, databases: ReadonlySet<string>, { database: { user } }: Context['accounts']): Runs {
  const script = `ask() { mariadb --defaults-extra-file=${path}/client.cnf --batch --skip-column-names -e "$1"; }
for name in ${[...databases].join(' ')}; do
  others=$(ask "SELECT user FROM mysql.db WHERE db = '$name' AND user != '${user}'")
  if [ -n "$others" ]; then
    echo "database $name stays: $(printf '%s' "$others" | tr '\n' ' ') may use it as well"
  else
    ask "DROP DATABASE IF EXISTS \\\`$name\\\`"
  fi
done
ask "DROP USER IF EXISTS '${user}'@'%'"
`;
  return { command: ['bash', '-euc', script] };
}
