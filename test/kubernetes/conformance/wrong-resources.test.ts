import { validateResource } from '@openstack-operator/cli';
import { isApiError, realClock, type Status } from '@openstack-operator/kube';
import { type Api, children, kinds } from '@openstack-operator/openstack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveOurKinds } from './openstack-definitions.ts';
import { sandbox, type TestServer, testServer } from './server.ts';
import { resourceOf, type WrongResource, wrongResources } from './wrong-resources.ts';

/** For all kinds together, on a machine that does other things as well. */
const BUDGET_SECONDS = 600;
const AT_ONCE = 32;
/** `make test` is about the way, and that it stays; a real server is asked all. A prime, so that no way is left out. */
const SANDBOX_ALONE_TRIES_ONE_OF = 7;

/** What a server says of a resource. */
interface Verdict {
  readonly message: string;
  readonly causes: readonly { readonly field: string; readonly reason: string; readonly message: string }[];
}

let servers: readonly { readonly server: TestServer; readonly namespace: string }[];
let began = 0;
let oneOf = 1;
let tried = 0;
beforeAll(async () => {
  const server = await testServer();
  const all = server.name === 'sandbox' ? [server] : [server, sandbox()];
  await Promise.all(all.map(serveOurKinds));
  servers = await Promise.all(all.map(async (one) => ({ server: one, namespace: await one.namespace() })));
  oneOf = server.name === 'sandbox' ? SANDBOX_ALONE_TRIES_ONE_OF : 1;
  began = realClock.now();
}, 60_000);

async function verdictOf(
  api: Api,
  wrong: WrongResource,
  { server, namespace }: (typeof servers)[number],
): Promise<Verdict> {
  try {
    await server.client.create(api, resourceOf(api, wrong, namespace), { dryRun: true, fieldValidation: 'Strict' });
    return { message: 'accepted', causes: [] };
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { message: error.status.message ?? '', causes: causesOf(error.status) };
  }
}

/** A field that is unknown is refused before the others are looked at, and named in the message alone. */
function causesOf({ message = '', details }: Status): Verdict['causes'] {
  const unknown = /^.*strict decoding error: unknown field "(.*)"$/.exec(message);
  if (unknown !== null) return [{ field: unknown[1] ?? '', reason: 'BadRequest', message }];
  return (details?.causes ?? []).map(({ field = '', reason = '', message: text = '' }) => ({
    field,
    reason,
    message: text,
  }));
}

/** What is not as it should be: refused with its field, alike by all servers and by `validate`. */
async function complaints(api: Api, wrong: WrongResource): Promise<object[]> {
  const [verdict, ...others] = await Promise.all(servers.map((one) => verdictOf(api, wrong, one)));
  if (verdict === undefined) return [];
  const fields = [...new Set(verdict.causes.map(({ field }) => field))].filter((field) => field !== '<nil>').sort();
  const mistakes = validateResource(resourceOf(api, wrong, 'default')).map(({ field }) => field);
  const validated = [...new Set(mistakes)].sort();
  const isSame = others.every((other) => JSON.stringify(other) === JSON.stringify(verdict));
  // `validate` goes on where a server stops at an unknown field, and looks into services of a control plane.
  const isValidated =
    api.kind === 'OpenStackControlPlane' || verdict.causes.some(({ reason }) => reason === 'BadRequest')
      ? fields.every((field) => validated.includes(field))
      : JSON.stringify(validated) === JSON.stringify(fields);
  if (fields.map(withDots).includes(wrong.field) && isSame && isValidated) return [];
  return [
    { field: wrong.field, way: wrong.way, verdict, ...(!isSame && { others }), ...(!isValidated && { validated }) },
  ];
}

/** The API server writes the keys of maps as `.key` or as `[key]`, by what it checks. */
const withDots = (field: string) => field.replaceAll(/\[(\D[^\]]*)\]/g, '.$1');

test.each(kinds.map((api) => [api.kind, api] as const))(
  'every field of a %s, wrong in every way, is refused with its path by the server, the sandbox and validate',
  { timeout: BUDGET_SECONDS * 1000 },
  async (_kind, api) => {
    const found: object[] = [];
    const all = [...wrongResources(api)].filter((_wrong, position) => position % oneOf === 0);
    const rest = all.values();
    const work = async () => {
      for (const wrong of rest) found.push(...(await complaints(api, wrong)));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    tried += all.length;
    expect(found).toEqual([]);
  },
);

const controlPlane = kinds.find(({ kind }) => kind === 'OpenStackControlPlane') as Api;

test.each(children.map(({ field, kind }) => [field, kinds.find((one) => one.kind === kind) as Api] as const))(
  'every field of spec.%s of a control plane, wrong in every way, is refused by validate with its whole path',
  (service, api) => {
    const offered = controlPlane.spec.schema.properties?.[service]?.properties ?? {};
    // What the control plane says for all of its services is no field of one.
    const all = [...wrongResources(api)].filter(({ field }) =>
      Object.hasOwn(offered, /^spec\.(\w+)/.exec(field)?.[1] ?? ''),
    );
    // Few fields are tried in all ways.
    const tried = all.length < 100 ? all : all.filter((_wrong, position) => position % oneOf === 0);
    const found = tried.flatMap(({ field, way, content: { spec } }) => {
      const whole = field.replace(/^spec/, `spec.${service}`);
      const wrong = { field: whole, way, content: { spec: { [service]: spec } } };
      const fields = validateResource(resourceOf(controlPlane, wrong, 'default')).map((mistake) => mistake.field);
      return fields.map(withDots).includes(whole) ? [] : [{ field: whole, way, fields }];
    });
    expect(tried.length).toBeGreaterThan(10);
    expect(found).toEqual([]);
  },
);

afterAll(() => {
  const seconds = (realClock.now() - began) / 1000;
  const names = servers.map(({ server }) => server.name).join(', ');
  process.stdout.write(
    `${tried} wrong resources, each tried on ${names} and by validate, in ${seconds.toFixed(0)} s of ${BUDGET_SECONDS} s\n`,
  );
  expect(tried).toBeGreaterThan(1000);
  expect(seconds).toBeLessThan(BUDGET_SECONDS);
});
