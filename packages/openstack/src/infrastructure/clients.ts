/** The services that keep their state in a database, and what they know of tokens in a cache; their Jobs have their names. */
export const databaseClients = ['keystone', 'glance', 'placement', 'neutron', 'nova'] as const;

/** The services that call each other by the broker. */
export const brokerClients = ['neutron', 'nova'] as const;
