/// Anything that can lend its pixels to the preprocessor: a decoded image, an encoded file, a pixel buffer, a lazily described image.
package protocol PixelSource {
    /// The orientation that the source itself carries (EXIF), up when it carries none. An explicit orientation given by a
    /// caller replaces it.
    var embeddedOrientation: ImageOrientation { get }

    /// How the lent pixels must be turned to be the picture that this source stands for, before any other orientation is applied.
    var storedOrientation: ImageOrientation { get }

    /// Lends the pixels for the length of `body`. `geometry` says what will be made of them: a source that can decode at reduced size
    /// may do so; nil asks for all pixels.
    func withPixels<Result>(for geometry: ImageGeometry?, _ body: (PixelView) throws -> Result) throws -> Result
}

extension PixelSource {
    package var storedOrientation: ImageOrientation { .up }
}
