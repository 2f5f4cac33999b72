import { expect, test } from 'vitest';
import { pasteData, pasteOwned } from './paste.ts';
import { writeData } from './write-data.ts';

test('each filter has a section, the program at the end has another, and one of others keeps its own factory', () => {
  const data = pasteData({
    defaults: { bind_port: 1 },
    pipeline: ['log', 'login', 'log', 'server'],
    use: (name) => `egg:x#${name}`,
    options: { login: { 'paste.filter_factory': 'y:z' }, server: { debug: true } },
  });
  expect(writeData('ini', data)).toBe(
    '[DEFAULT]\nbind_port = 1\n\n[app:server]\ndebug = true\nuse = egg:x#server\n\n[filter:log]\nuse = egg:x#log\n\n[filter:login]\npaste.filter_factory = y:z\n\n[pipeline:main]\npipeline = log login log server\n',
  );
});

test('what requests pass is owned, and an option of all sections in whatever section it stands', () => {
  const owned = pasteOwned(['login', 'server'], { port: 'nothing: fixed' });
  expect(owned).toMatchObject({ 'pipeline:*': expect.any(String), 'filter:login.paste*': expect.any(String) });
  expect(owned).toMatchObject({ 'app:server.use': expect.any(String), '*.port': 'nothing: fixed' });
  expect(owned['*.set *port']).toBe('nothing: fixed');
});
