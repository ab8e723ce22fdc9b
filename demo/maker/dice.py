"""The only source of chance: splitmix64, so that every Python on every machine throws the same."""

MASK = (1 << 64) - 1


class Dice:
    """Chance that depends on its seed alone (`random` may change its methods from one Python to the next)."""

    def __init__(self, seed):
        self.state = 0
        for byte in seed.encode():
            self.state = (self.state * 1099511628211 + byte + 1) & MASK

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, n):
        return self.bits() % n

    def between(self, low, high):
        """A whole number from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def share(self):
        """A number in 0..1."""
        return (self.bits() >> 11) / (1 << 53)

    def one(self, items):
        return items[self.below(len(items))]

    def shuffled(self, items):
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
        return items

    def some(self, items, n):
        """`n` different items, in any order."""
        return self.shuffled(items)[:n]
