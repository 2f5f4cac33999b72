import { annotations, labelsOf, previousSuffix, retainedFor, retainedForLabel } from '../names/names.ts';
import { requestOf } from '../status/conditions.ts';
import { apiAuthority, componentsOf, suffixesWithTls } from '../vocabulary/api-tls.ts';
import { apiCertificate } from '../vocabulary/certificate.ts';
import type { Context } from '../vocabulary/context.ts';
import { uses } from '../vocabulary/dependencies.ts';
import { certificateObject, issuedKeys, lackingOf } from '../vocabulary/issued.ts';
import type { GeneratedSecret, Service } from '../vocabulary/service.ts';
import type { AuthoritySuccession, Desired, Succession } from '../vocabulary/step.ts';
import type { Rotation } from '../vocabulary/surroundings.ts';

/** The Secrets that the operator makes for a resource: `<name>-<suffix>` each; before those that cert-manager fills, what that is asked for. */
export function generatedSecrets(service: Service, context: Context): readonly Desired[] {
  return secretsOf(service, context).flatMap((secret) => [
    ...(secret.issued === undefined ? [] : [certificateObject(service, context, secret, secret.issued)]),
    generated(service, context, secret),
  ]);
}

/** The Secrets that a definition names, and those that its databases, vhost and user imply. */
function secretsOf(service: Service, context: Context): readonly GeneratedSecret[] {
  const password = { password: { type: 'password', length: 32 } } as const;
  const credential = (suffix: string, more: Partial<GeneratedSecret> = {}): GeneratedSecret => ({
    suffix,
    values: password,
    secretClass: 'credential',
    ...more,
  });
  const { database, broker, identity } = context.accounts;
  const account = (suffix: string, secret: string, more: Partial<GeneratedSecret> = {}) =>
    secret === context.named(suffix)
      ? [credential(suffix, { ...more, held: more.held === true || context.isShared(secret) })]
      : [];
  return [
    ...(service.secrets?.(context) ?? []),
    ...(service.databases === undefined
      ? []
      : database.users.flatMap(({ suffix, secret }) => account(suffix, secret, { succeeded: true }))),
    ...(service.messaging !== undefined && uses(service, 'broker', context.spec)
      ? account('mq-password', broker.secret, {
          succeeded: service.brokerUserGivenAway !== true,
          held: context.surroundings.isLent(),
        })
      : []),
    ...identity.users.flatMap(({ suffix, secret, user: { owns } }) =>
      account(suffix, secret, { succeeded: owns === undefined, held: context.surroundings.isLent() }),
    ),
    // Pods with another key do not find what it was put there with, and ask Keystone.
    ...(identity.users.length === 0 || context.cache === undefined
      ? []
      : [credential('cache-key', { succeeded: true })]),
    ...certificateOfApis(service, context),
  ];
}

/** Passwords whose rotation is under way. */
export function rotationsOf(service: Service, context: Context): Readonly<Record<string, Rotation>> {
  const { named, rotating } = context;
  return Object.fromEntries(
    secretsOf(service, context).flatMap(({ suffix, succeeded }) => {
      const secret = named(suffix);
      const rotation = succeeded === true ? rotating(secret) : undefined;
      return rotation === undefined ? [] : [[secret, rotation] as const];
    }),
  );
}

/** The certificate that its APIs serve TLS with. */
function certificateOfApis(service: Service, context: Context): readonly GeneratedSecret[] {
  const authority = apiAuthority(service, context);
  if (authority === undefined) return [];
  const suffixes = suffixesWithTls(service, componentsOf(service, context));
  return suffixes.length === 0 ? [] : [apiCertificate(context, suffixes.map(context.host), authority)];
}

type Generated = Extract<Desired, { verb: 'generate' }>;

/** The Secret `<name>-<suffix>`; `published`: that of what a Job makes, who may fill it, and with what. */
export function generated(
  service: Service,
  context: Context,
  secret: GeneratedSecret,
  published?: { readonly annotations: Record<string, string> } & Pick<Generated, 'filled' | 'filledBy'>,
): Desired {
  const isRetained = service.retainedSecrets?.includes(secret.suffix) === true;
  const retained = isRetained && context.spec.deletionPolicy !== 'Delete';
  return {
    verb: 'generate',
    object: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: context.named(secret.suffix),
        namespace: context.namespace,
        labels: {
          ...labelsOf(service.name, context.name),
          ...(retained ? { [retainedForLabel]: retainedFor(context.resource) } : {}),
        },
        ...(published === undefined ? {} : { annotations: published.annotations }),
      },
      type: 'Opaque',
    },
    values: secret.values,
    secretClass: secret.secretClass,
    ...(retained ? { retained } : {}),
    ...(secret.rotation === undefined ? {} : { rotation: secret.rotation }),
    ...(secret.succeeded === true ? { succession: successionOf(context, secret) } : {}),
    ...(secret.authority === undefined ? {} : { authority: authoritySuccessionOf(context) }),
    ...(secret.guards === undefined ? {} : { guards: secret.guards }),
    ...(secret.issued === undefined
      ? {}
      : { issued: { keys: Object.values(issuedKeys), lacking: lackingOf(secret.issued) } }),
    ...(published?.filled === undefined ? {} : { filled: published.filled }),
    ...(published?.filledBy === undefined || published.filledBy.keys.length === 0
      ? {}
      : { filledBy: published.filledBy }),
  };
}

/** How its authority is replaced: what is asked for. */
function authoritySuccessionOf({ resource }: Context): AuthoritySuccession {
  const asked = requestOf(resource, annotations.rotateAuthorityAt);
  return asked === undefined ? {} : { asked };
}

/** How its password is rotated: what is asked for, and what has been done. */
function successionOf(
  { named, resource, spec, surroundings }: Context,
  { suffix, held = false }: GeneratedSecret,
): Succession {
  const asked = held ? undefined : requestOf(resource, annotations.rotateAt);
  const completed = surroundings.rotated[named(suffix)]?.generation;
  const { passwordRotationDays: days } = spec;
  return {
    previous: named(`${suffix}-${previousSuffix}`),
    ...(asked === undefined ? {} : { asked }),
    ...(days === undefined || held ? {} : { intervalSeconds: days * 86_400 }),
    ...(completed === undefined ? {} : { completed }),
  };
}
