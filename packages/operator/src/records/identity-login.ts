import { type Http, HttpError } from './http.ts';

/** Who asks for a token, by names. */
export interface Login {
  readonly username: string;
  readonly password: string;
  readonly project: string;
  readonly userDomain: string;
  readonly projectDomain: string;
}

/** What comes of a login. */
export interface Session {
  readonly token: string;
  readonly projectId: string;
  /** URL of a service inside the cluster, by its type and region; undefined when the catalogue has none. */
  readonly endpoint: (type: string, region: string) => string | undefined;
}

/** A token scoped to the project. @throws HttpError when Keystone gives none */
export async function login(http: Http, url: string, who: Login): Promise<string> {
  return (await openSession(http, url, who)).token;
}

/** A token scoped to the project, and what it comes with. @throws HttpError when Keystone gives none */
export async function openSession(http: Http, url: string, who: Login): Promise<Session> {
  const call = {
    method: 'POST',
    url: `${url}/auth/tokens`,
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify({
      auth: {
        identity: {
          methods: ['password'],
          password: { user: { name: who.username, password: who.password, domain: { name: who.userDomain } } },
        },
        scope: { project: { name: who.project, domain: { name: who.projectDomain } } },
      },
    }),
  };
  const answer = await http(call);
  const token = answer.headers['x-subject-token'];
  if (answer.status !== 201 || token === undefined) throw new HttpError(call, answer);
  const body = (JSON.parse(answer.body) as TokenBody).token ?? {};
  return {
    token,
    projectId: body.project?.id ?? '',
    endpoint: (type, region) =>
      body.catalog
        ?.filter((service) => service.type === type)
        .flatMap(({ endpoints }) => endpoints)
        .find((one) => one.interface === 'internal' && one.region_id === region)?.url,
  };
}

interface TokenBody {
  readonly token?: {
    readonly project?: { readonly id: string };
    readonly catalog?: readonly {
      readonly type: string;
      readonly endpoints: readonly { readonly interface: string; readonly region_id: string; readonly url: string }[];
    }[];
  };
}

/** Whether a user of a domain has this password; a missing role on its project also answers 401, and is granted later. */
export async function hasPassword(
  http: Http,
  url: string,
  user: { readonly name: string; readonly password: string; readonly domain: string },
): Promise<boolean> {
  const body = JSON.stringify({
    auth: {
      identity: {
        methods: ['password'],
        password: { user: { name: user.name, password: user.password, domain: { id: user.domain } } },
      },
      scope: 'unscoped',
    },
  });
  const answer = await http({
    method: 'POST',
    url: `${url}/auth/tokens`,
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body,
  });
  return answer.status === 201;
}
