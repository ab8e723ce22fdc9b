//! How many of two rows of bytes agree: styles and page frames are compared by 128 of them.

/// Bytes that are compared at once: what the processors of all machines that this runs on can.
const LANES: usize = 16;

/// How many bytes of `a` are the same in `b`, of those that are counted.
pub(crate) fn n_agreeing(a: &[u8], b: &[u8], is_counted: impl Fn(u8) -> bool) -> u32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let one = |a: u8, b: u8| u8::from((a == b) & is_counted(a));
    let mut n = 0;
    // A lane counts in a byte, and is emptied before it is full.
    for (a, b) in a.chunks(u8::MAX.into()).zip(b.chunks(u8::MAX.into())) {
        let mut lanes = [0_u8; LANES];
        for (a, b) in a.iter().zip(b) {
            for lane in 0..LANES {
                lanes[lane] += one(a[lane], b[lane]);
            }
        }
        n += lanes.into_iter().map(u32::from).sum::<u32>();
    }
    n + a_rest.iter().zip(b_rest).map(|(&a, &b)| u32::from(one(a, b))).sum::<u32>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_many_as_one_by_one(pairs in prop::collection::vec((0_u8..3, 0_u8..3), 0..5000)) {
            let (a, b): (Vec<u8>, Vec<u8>) = pairs.iter().copied().unzip();
            let n = pairs.iter().filter(|(a, b)| a == b).count() as u32;
            prop_assert_eq!(n_agreeing(&a, &b, |_| true), n);
            let n_counted = pairs.iter().filter(|(a, b)| a == b && *a != 0).count() as u32;
            prop_assert_eq!(n_agreeing(&a, &b, |byte| byte != 0), n_counted);
        }
    }
}
