/**
 * Milliseconds that the real programs take until they serve, or until their work is done: what their processes compute,
 * by the control groups of copies that ran on a real cloud (test/cloud/start-times.test.ts measures it again; medians of
 * three on 2026-11-21, OpenStack 2025.1 and Python 3.13 of Debian trixie). Where uwsgi starts two workers, of one of them.
 * Those of the second half were taken by the clock of an idle machine: they wait for disks and for each other, or no
 * probe tells when they serve.
 */
export const startTimes = {
  /** A command's interpreter and imports, then each of its tasks. */
  keystoneManage: { start: 900, dbSync: 1300, bootstrap: 2000 },
  glanceManage: { start: 1200, dbSync: 700, expand: 400, contract: 300 },
  placementManage: { start: 900, dbSync: 700 },
  neutronDbManage: { start: 1500, upgrade: 1800 },
  novaManage: { start: 1900, apiDbSync: 700, dbSync: 1300, cell: 300 },
  novaStatus: { start: 1900 },
  keystoneApi: 2700,
  glanceApi: 1900,
  placementApi: 1800,
  novaApi: { imports: 1900, application: 800 },
  novaNovncproxy: 1900,
  memcached: 50,
  // Not measured: as memcached.
  tgtd: 50,
  ovsdbServer: 200,
  ovnDaemon: 100,
  ovsControl: 5,

  neutronApi: { imports: 6000, application: 2500 },
  neutronServer: 4000,
  neutronMetadataAgent: 3000,
  novaService: 2500,
  libvirtd: 800,
  /** By the clock of a busy machine: ansible-core 2.19, until its first play. */
  ansible: 1500,
  /** Not measured yet: guessed by programs that import as much. */
  barbicanManage: { start: 900, dbUpgrade: 700 },
  barbicanApi: 1900,
  barbicanServer: 1900,
  swiftRingBuilder: 400,
  swiftServer: 1200,
  xattr: 200,
  /** The pools that it makes among them. */
  radosgw: 1200,
  cinderManage: { start: 1500, dbSync: 1300 },
  cinderApi: 2500,
  cinderService: 2500,
  /** A volume in a pool of RBD: 6 s on a machine that was busy. */
  cinderVolume: 1000,
  manilaManage: { start: 1500, dbSync: 1500 },
  manilaApi: 2500,
  manilaService: 2500,
  /** A share in CephFS: 4 s on a machine that was busy. */
  manilaShare: 1000,
  heatManage: { start: 1500, dbSync: 1300 },
  heatApi: 2400,
  heatEngine: 5000,
  /** A stack of a random string and a wait condition, once its signal was there. */
  heatStack: 1900,
  watcherManage: { start: 1500, dbSync: 1500 },
  watcherApi: 2500,
  watcherServer: 3000,
  /** An audit for the goal dummy, or its action plan: it sleeps for 3 seconds, the rest are the steps of its states. */
  watcherWork: 4000,
  blazarManage: { start: 900, dbSync: 1000 },
  blazarApi: 1900,
  blazarManager: 1900,
  /** By the clock of a machine that was busy, but for the start. */
  horizon: { collectstatic: 1100, compress: 5100, start: 3200 },
  /** Guessed by Aodh's, which import as much. */
  skyline: { start: 1500, migrate: 900 },
  /** Guessed by Heat's, which import as much. */
  mistralManage: { start: 1500, dbSync: 1300 },
  mistralApi: 2400,
  mistralServer: 2500,
  mistralAction: 300,
  /** Guessed by Heat's, which imports as much. */
  magnumManage: { start: 1500, dbSync: 1300 },
  magnumApi: 2400,
  magnumConductor: 2500,
  /** Guessed by Manila's, which import as much. */
  troveManage: { start: 1500, dbSync: 1500 },
  troveApi: 2500,
  troveServer: 2500,
  /** Guesses, from Heat's: it imports as much. */
  designateManage: { start: 1500, dbSync: 1600 },
  designateApi: 2400,
  designateService: 2500,
  /** Guesses, from Barbican's: it imports as much. */
  masakariManage: { start: 1200, dbSync: 1200 },
  masakariApi: 2000,
  masakariEngine: 2000,
  /** Guesses, from Heat's: it imports as much. The API and the conductor are measured, by CPU. */
  ironicManage: { start: 1500, dbSync: 1500 },
  ironicApi: 3600,
  ironicConductor: 2200,
  /** Guesses: they read a file and listen. */
  dnsmasq: 50,
  haproxy: 50,
  /** BIND without zones. */
  named: 300,
  /** Not measured yet: guessed by Manila's. The migration is measured. */
  octaviaManage: { start: 1500, upgrade: 1500 },
  octaviaApi: 2500,
  octaviaService: 2500,
  /** Not measured yet: guessed by Barbican's, which import as much. */
  aodhCommands: { start: 900, dbSync: 700 },
  aodhApi: 1900,
  aodhProgram: 1900,
  cyborgManage: { start: 1200, dbSync: 1000 },
  cyborgApi: 2500,
  cyborgServer: 2500,
  /** Guessed by Barbican's, which import as much. */
  zaqarManage: { start: 900, dbSync: 700 },
  zaqarServer: 1900,
  gnocchiUpgrade: { start: 1200, upgrade: 700 },
  gnocchiApi: 2400,
  gnocchiMetricd: 2400,
  ceilometerProgram: 2400,
  /** Guessed by Aodh's, which import as much. */
  cloudkittyCommands: { start: 900, dbSync: 700, storageInit: 500 },
  cloudkittyApi: 1900,
  cloudkittyProcessor: 1900,
  /** Guessed by Heat's, which import as much. */
  vitrageCommands: { start: 1500, dbSync: 700 },
  vitrageApi: 2400,
  vitrageProgram: 2500,
  /** By CPU, on an idle machine with Python 3.11 and SQLite. */
  adjutantManage: { start: 1700, migrate: 500 },
  adjutantApi: 1100,
  /** Guessed by Zaqar's, which import as much. */
  freezerManage: { start: 900, dbSync: 700 },
  freezerApi: 1900,
  /** Guessed by Heat's, which imports as much. */
  tackerManage: { start: 1500, dbSync: 1500 },
  tackerServer: 2500,
  /** Guessed by Tacker's, which import as much. */
  zunManage: { start: 1500, dbSync: 1500 },
  zunApi: 2500,
  zunProxy: 2500,
  /** Guessed by Freezer's and Zun's, which import as much. */
  venusManage: { start: 1500, dbSync: 1000 },
  venusApi: 2500,
  mariadbInstallDb: 900,
  mariadbd: 1200,
  /** A state transfer: mariabackup's way sleeps 10 s; of write sets alone. */
  galera: { sst: 11_000, ist: 1000 },
  rabbitmq: { erlang: 1000, prelaunch: 1500, boot: 3500 },
} as const;
