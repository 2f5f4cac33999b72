import { virtualClock } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import type { Http, HttpAnswer } from './http.ts';
import { keepMemberRecords, type MemberRecords } from './members.ts';

interface Bell {
  readonly id: number;
  readonly name: string;
  tone?: string;
  ringers: string[];
  labels?: Readonly<Record<string, string>>;
}

const mark = { of: 'us' };

/**
 * Keystone and an API of bells with ringers, who are of one bell alone; those of `busy` stay where they are. Bells whose names begin
 * with `our-` bear the mark, if nothing else is said. `roll` is the mirror: which ringer is of which bells, by their uuids.
 */
function tower(bells: readonly Bell[], { busy = [] as readonly string[], known = 'ann bob cat dan' } = {}) {
  const labelled = bells.map((bell) => ({ ...(bell.name.startsWith('our-') && { labels: mark }), ...bell }));
  const all = new Map(labelled.map((bell) => [bell.id, structuredClone(bell)]));
  const roll = new Map<string, readonly string[]>();
  const shown = (bell: Bell) => ({ ...bell, uuid: `u${bell.id}` });
  const http: Http = ({ method, url, body = '{}' }) => {
    const answer = (status: number, value: unknown = {}, headers = {}): Promise<HttpAnswer> =>
      Promise.resolve({ status, headers, body: JSON.stringify(value) });
    const refuse = (status: number, message: string) => answer(status, { error: { message } });
    const [, kind, id, action] = new URL(url).pathname.split('/');
    if (kind === 'v3') {
      const catalog = ['tower', 'mirror'].map((type) => ({
        type,
        endpoints: [{ interface: 'internal', region_id: 'RegionOne', url: `http://${type}` }],
      }));
      return answer(201, { token: { catalog } }, { 'x-subject-token': 't' });
    }
    if (kind === 'of')
      return answer(200, {
        ringers: [...roll].flatMap(([ringer, of]) => (of.includes(id ?? '') ? [{ name: ringer, uuid: ringer }] : [])),
      });
    if (kind === 'ringer') {
      const [ringer = '', { of, generation }] = [id, JSON.parse(body) as { of?: string[]; generation?: number }];
      if (method === 'GET') return answer(200, { of: roll.get(ringer), generation: 7 });
      if (generation !== 7) return refuse(409, 'another generation');
      roll.set(ringer, of ?? []);
      return answer(200);
    }
    const given = JSON.parse(body) as Record<string, Partial<Bell> & { name: string }>;
    const bell = all.get(Number(id));
    if (id === undefined) {
      if (method === 'GET') return answer(200, { bells: [...all.values()].map(shown) });
      const made = { id: Math.max(0, ...all.keys()) + 1, ...given['bell'] } as Bell;
      all.set(made.id, { ...made, ringers: [] });
      return answer(200, { bell: made });
    }
    if (bell === undefined) return refuse(404, 'no such bell');
    if (action === undefined) {
      if (method === 'PUT') {
        if (given['bell']?.tone === 'none') return refuse(400, 'a bell has a tone');
        Object.assign(bell, given['bell']);
        return answer(200, { bell });
      }
      if (bell.ringers.length > 0) return refuse(400, 'it is rung');
      all.delete(bell.id);
      return answer(204);
    }
    const [[verb, { name, labels }] = ['', { name: '', labels: {} }]] = Object.entries(given);
    if (verb === 'label') {
      bell.labels = { ...bell.labels, ...labels };
      return answer(200, { bell });
    }
    if (!known.split(' ').includes(name)) return refuse(404, `${name} is not known`);
    if (busy.includes(name)) return refuse(409, `${name} is busy`);
    if (verb === 'leave') {
      if (!bell.ringers.includes(name)) return refuse(404, `${name} is not there`);
      bell.ringers = bell.ringers.filter((one) => one !== name);
    } else if ([...all.values()].some(({ ringers }) => ringers.includes(name)))
      return refuse(409, `${name} rings already`);
    else bell.ringers.push(name);
    return answer(200, { bell });
  };
  const rung = () => Object.fromEntries([...all.values()].map(({ name, ringers }) => [name, ringers.join(' ')]));
  return { http, rung, all, roll };
}

const names = (between: string) => ({ begin: '', between, end: '' });
/** Records of bells by their names, each with its ringers. */
const records = (bells: Readonly<Record<string, string>>, more: Partial<MemberRecords> = {}): MemberRecords => ({
  url: 'http://keystone/v3',
  username: 'bell',
  password: 'secret',
  project: 'service',
  userDomain: 'Default',
  projectDomain: 'Default',
  region: 'RegionOne',
  type: 'tower',
  kind: 'bell',
  mark,
  api: {
    path: '/bells',
    item: 'bell',
    members: {
      path: '/bells/{id}/action',
      add: 'join',
      remove: 'leave',
      as: 'name',
      shown: 'ringers',
      mark: { act: 'label', as: 'labels' },
      mirror: { type: 'mirror', headers: {}, list: '/of/{id}', items: 'ringers', path: '/ringer/{id}', as: 'of' },
    },
  },
  items: Object.entries(bells).map(([name, ringers]) => ({
    name,
    attributes: { tone: 'deep' },
    ...(ringers === '' ? {} : { members: names(ringers) }),
  })),
  ...more,
});

const keep = async (http: Http, wanted: MemberRecords) => {
  const told: string[] = [];
  const clock = virtualClock();
  let isDone = false;
  const kept = keepMemberRecords(wanted, http, (line) => told.push(line), { clock }).finally(() => {
    isDone = true;
  });
  kept.catch(() => undefined);
  await clock.run(() => isDone);
  return { changes: await kept, told, seconds: clock.monotonic() / 1000 };
};

test('items are made with their members; run twice nothing is changed, and what others have stays as it is', async () => {
  const { http, rung } = tower([{ id: 7, name: 'theirs', ringers: ['dan'] }]);
  const wanted = records({ 'our-small': 'ann bob', 'our-large': '' });
  expect(await keep(http, wanted)).toEqual({
    changes: [
      'created bell our-small',
      'created bell our-large',
      'added ann to bell our-small',
      'added bob to bell our-small',
    ],
    told: ['{members refused: 0}'],
    seconds: 0,
  });
  expect(rung()).toEqual({ theirs: 'dan', 'our-small': 'ann bob', 'our-large': '' });
  expect(await keep(http, wanted)).toEqual({ changes: [], told: ['{members refused: 0}'], seconds: 0 });
});

test('what does not bear the mark is of somebody else, whatever its name is; one without members is taken over', async () => {
  const { http, rung, all } = tower([
    { id: 1, name: 'our-old', labels: {}, ringers: ['ann'] },
    { id: 2, name: 'our-small', labels: {}, ringers: ['bob'] },
    { id: 3, name: 'our-large', labels: {}, tone: 'deep', ringers: [] },
  ]);
  const { told } = await keep(
    http,
    records({ 'our-small': 'cat', 'our-large': 'dan' }, { unassigned: names('ann bob') }),
  );
  expect(rung()).toEqual({ 'our-old': 'ann', 'our-small': 'bob', 'our-large': 'dan' });
  expect(all.get(3)?.labels).toEqual(mark);
  expect(told).toEqual([
    '{members refused: 1}',
    "{member bell our-small is not the operator's: rename it, or set its labels of=us to hand it over}",
  ]);
});

test('an item that is refused holds up no other', async () => {
  const { http, rung } = tower([]);
  const folded: Http = (call) =>
    call.method === 'POST' && call.url.endsWith('/bells') && call.body?.includes('our-East') === true
      ? Promise.resolve({ status: 409, headers: {}, body: '{"error":{"message":"there is our-east"}}' })
      : http(call);
  const { told } = await keep(folded, records({ 'our-East': 'ann', 'our-west': 'bob' }));
  expect(rung()).toEqual({ 'our-west': 'bob' });
  expect(told).toEqual(['{members refused: 1}', '{member bell our-East is not made: there is our-east}']);
});

test('a request whose answer was lost, and that is refused when it is sent again, is done', async () => {
  const { http, rung } = tower([{ id: 1, name: 'our-small', tone: 'deep', ringers: ['ann'] }]);
  const again: Http = async (call) => {
    if (call.method === 'POST' && call.url.includes('bells')) await http(call);
    return await http(call);
  };
  const once: Http = (call) => (call.url.endsWith('/bells') && call.method === 'POST' ? lost(call) : again(call));
  const lost: Http = async (call) => {
    await http(call);
    return { status: 409, headers: {}, body: '{}' };
  };
  expect(await keep(once, records({ 'our-large': 'ann', 'our-small': 'bob' }))).toMatchObject({
    changes: [
      'removed ann from bell our-small',
      'created bell our-large',
      'added ann to bell our-large',
      'added bob to bell our-small',
    ],
    told: ['{members refused: 0}'],
    seconds: 0,
  });
  expect(rung()).toEqual({ 'our-large': 'ann', 'our-small': 'bob' });
});

test('members that have left an item leave it in the mirror; what others have there stays', async () => {
  const { http, roll } = tower([
    { id: 1, name: 'our-small', tone: 'deep', ringers: ['bob'] },
    { id: 2, name: 'our-large', tone: 'deep', ringers: ['ann'] },
    { id: 3, name: 'theirs', ringers: [] },
  ]);
  for (const ringer of ['ann', 'bob', 'cat']) roll.set(ringer, ['u1', 'u2', 'u3', 'else']);
  const wanted = records({ 'our-small': '', 'our-large': 'ann' }, { unassigned: names('bob') });
  const { changes } = await keep(http, wanted);
  expect(changes).toEqual([
    'removed bob from bell our-small',
    'removed ann from bell our-small in its mirror',
    'removed bob from bell our-small in its mirror',
    'removed bob from bell our-large in its mirror',
  ]);
  expect(Object.fromEntries(roll)).toEqual({
    ann: ['u2', 'u3', 'else'],
    bob: ['u3', 'else'],
    // Nothing is said of it.
    cat: ['u1', 'u2', 'u3', 'else'],
  });
  const busy: Http = (call) =>
    call.method === 'PUT' ? Promise.resolve({ status: 409, headers: {}, body: '{}' }) : http(call);
  roll.set('ann', ['u1']);
  expect(await keep(busy, wanted)).toMatchObject({ changes: [], told: ['{members refused: 0}'] });
});

test('members leave before they come to another item, and what is stated no more goes with its last one', async () => {
  const { http, rung } = tower([
    { id: 1, name: 'our-small', tone: 'deep', ringers: ['ann', 'bob', 'cat'] },
    { id: 2, name: 'our-old', tone: 'deep', ringers: ['dan'] },
  ]);
  await keep(http, records({ 'our-small': 'bob', 'our-large': 'ann' }, { unassigned: names('dan') }));
  expect(rung()).toEqual({ 'our-small': 'bob cat', 'our-large': 'ann' });
});

test('one that stays keeps its item, and one of whom nothing is said, too; attributes are put right', async () => {
  const { http, rung, all } = tower(
    [
      { id: 1, name: 'our-old', ringers: ['ann', 'bob'] },
      { id: 2, name: 'our-older', ringers: ['cat'] },
      { id: 3, name: 'our-small', tone: 'high', ringers: [] },
    ],
    { busy: ['ann'] },
  );
  const { told } = await keep(http, records({ 'our-small': 'ann bob' }));
  expect(rung()).toEqual({ 'our-old': 'ann', 'our-older': 'cat', 'our-small': 'bob' });
  expect(told).toEqual(['{members refused: 1}', '{member ann stays in bell our-old: ann is busy}']);
  expect(all.get(3)?.tone).toBe('deep');
});

test('what is refused of some holds up no others, and is told; of many, a few', async () => {
  const many = Array.from({ length: 9 }, (_, index) => `r${index}`);
  const { http, rung } = tower([{ id: 1, name: 'our-small', tone: 'high', ringers: [] }], {
    busy: many,
    known: [...many, 'ann'].join(' '),
  });
  const [item] = records({ 'our-small': [...many, 'ann'].join(' ') }).items;
  const { told } = await keep(http, records({}, { items: [{ ...item, attributes: { tone: 'none' } } as never] }));
  expect(rung()).toEqual({ 'our-small': 'ann' });
  expect(told).toEqual([
    '{members refused: 10}',
    '{member bell our-small keeps its tone: a bell has a tone}',
    ...many.slice(0, 4).map((name) => `{member ${name} is not taken into bell our-small: ${name} is busy}`),
    '{member and 5 more}',
  ]);
});

test('one that is not known yet is waited for, when all else is done, and told in the end', async () => {
  const { http, rung } = tower([]);
  const { told, seconds } = await keep(http, records({ 'our-small': 'new ann' }));
  expect(rung()).toEqual({ 'our-small': 'ann' });
  expect(told).toEqual(['{members refused: 1}', '{member new is not taken into bell our-small: new is not known}']);
  expect(seconds).toBe(120);
  let asked = 0;
  const later: Http = (call) => (call.body?.includes('bob') === true && asked++ < 3 ? absent : http(call));
  const absent = Promise.resolve({ status: 404, headers: {}, body: '{}' });
  expect(await keep(later, records({ 'our-small': 'ann bob' }))).toMatchObject({
    changes: ['added bob to bell our-small'],
    told: ['{members refused: 0}'],
    seconds: 15,
  });
});

test('one that was taken in, and refused all the same, is a member', async () => {
  const { http, rung } = tower([]);
  const half: Http = async (call) => {
    const answer = await http(call);
    return call.body?.includes('ann') === true ? { ...answer, status: answer.status === 200 ? 404 : 409 } : answer;
  };
  expect(await keep(half, records({ 'our-small': 'ann' }))).toEqual({
    changes: ['created bell our-small', 'added ann to bell our-small'],
    told: ['{members refused: 0}'],
    seconds: 0,
  });
  expect(rung()).toEqual({ 'our-small': 'ann' });
});

test('a service that fails, or is not there, is no refusal', async () => {
  const { http } = tower([]);
  const broken: Http = (call) =>
    call.method === 'POST' && call.url.endsWith('action')
      ? Promise.resolve({ status: 500, headers: {}, body: '{}' })
      : http(call);
  await expect(keep(broken, records({ 'our-small': 'ann bob' }))).rejects.toThrow('/bells/1/action: 500');
  await expect(keep(http, { ...records({}), type: 'steeple' })).rejects.toThrow('no service of type steeple');
});
