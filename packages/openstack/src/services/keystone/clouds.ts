import { resolvedSecret } from '../../engine/configuration/config.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Desired } from '../../engine/vocabulary/step.ts';
import { authorityKey } from '../../engine/vocabulary/trust.ts';
import { writeData } from '../../formats/write-data.ts';
import { secretReference } from '../../oslo/references.ts';
import type { Keystone } from './kind.ts';

/**
 * What clients are told of the cloud and its administrator: the Secret `<name>-clouds`, with a `clouds.yaml` of two entries,
 * `admin` for clients outside and `admin-internal` for those in the cluster, and an `openrc` that says what `admin` does.
 */
export function clientFiles(context: Context<Keystone>): Desired {
  const { name: instance, named, namespace, surroundings } = context;
  const { trust } = context.identity;
  const entries = { admin: entryOf(context, 'public'), 'admin-internal': entryOf(context, 'internal') };
  return resolvedSecret({ service: 'keystone', instance, namespace, surroundings }, named('clouds'), {
    ...(trust === undefined ? {} : { [authorityKey]: secretReference(trust.secret, authorityKey) }),
    'clouds.yaml': writeData('yaml', { clouds: entries }),
    openrc: openrc(context),
  });
}

/** Where clients find whom they trust at an URL, in the directory where clients look for `clouds.yaml`: outside a gateway has a certificate of its own. */
function authorityFor(name: string, url: string, { identity }: Context<Keystone>): Readonly<Record<string, string>> {
  const isInside = url === identity.internalUrl;
  return isInside && identity.trust !== undefined ? { [name]: `/etc/openstack/${authorityKey}` } : {};
}

function entryOf(context: Context<Keystone>, side: 'public' | 'internal') {
  const { identity, region } = context;
  const { admin } = identity;
  const url = side === 'public' ? identity.publicUrl : identity.internalUrl;
  return {
    auth: {
      auth_url: url,
      username: admin.user(),
      password: admin.password(),
      project_name: admin.project(),
      user_domain_name: admin.userDomain(),
      project_domain_name: admin.projectDomain(),
    },
    region_name: region,
    ...authorityFor('cacert', url, context),
    identity_api_version: '3',
    interface: side,
    // The same for clients that read the older name alone (gophercloud).
    endpoint_type: side,
  };
}

/** Variables for a shell. */
function openrc(context: Context<Keystone>): string {
  const {
    identity: { admin, publicUrl },
    region,
  } = context;
  const variables = {
    OS_AUTH_URL: publicUrl,
    OS_USERNAME: admin.user('shell'),
    OS_PASSWORD: admin.password('shell'),
    OS_PROJECT_NAME: admin.project('shell'),
    OS_USER_DOMAIN_NAME: admin.userDomain('shell'),
    OS_PROJECT_DOMAIN_NAME: admin.projectDomain('shell'),
    OS_REGION_NAME: region,
    OS_INTERFACE: 'public',
    OS_IDENTITY_API_VERSION: '3',
    ...authorityFor('OS_CACERT', publicUrl, context),
  };
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}='${value}'\n`)
    .join('');
}
